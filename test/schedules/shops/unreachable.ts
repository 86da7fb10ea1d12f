/** A module whose driver reaches no address of its host: such an error has no message. */
throw new AggregateError([]);
