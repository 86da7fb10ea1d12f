/** Lets everything through to its target until it is closed; from then on each use throws. */
export interface Guard<Target> {
  readonly target: Target;
  close(reason: unknown): void;
}

/**
 * A handler can go on long after its time is over, and then its connection serves somebody else's transaction. So what it gets is
 * this, and never the client itself.
 *
 * @param overrides members in place of the target's own
 */
export function guard<Target extends object>(target: Target, overrides: Partial<Record<PropertyKey, unknown>> = {}): Guard<Target> {
  let closed: { readonly reason: unknown } | undefined;
  const assertOpen = (): void => {
    if (closed !== undefined) throw new Error('the transaction is over: nothing more can be done in it', { cause: closed.reason });
  };
  const guarded: Target = new Proxy(target, {
    get(_, name) {
      // A promise that resolves with the guard asks for this one, whether it is open or not.
      if (name === 'then' && !('then' in target)) return undefined;
      assertOpen();
      const value: unknown = Object.hasOwn(overrides, name) ? overrides[name] : Reflect.get(target, name, target);
      return typeof value === 'function' ? guardMethod(value as Method, target, guarded, assertOpen) : value;
    },
    set(_, name, value) {
      assertOpen();
      return Reflect.set(target, name, value, target);
    },
    apply(_, self, values: unknown[]) {
      assertOpen();
      return Reflect.apply(target as Method, self, values);
    },
  });
  return {
    target: guarded,
    close(reason) {
      closed ??= { reason };
    },
  };
}

type Method = (...values: unknown[]) => unknown;

/** On the target itself, since private fields are not reachable by way of a proxy. */
function guardMethod(method: Method, target: object, guarded: object, assertOpen: () => void): Method {
  return new Proxy(method, {
    apply(_, __, values: unknown[]) {
      assertOpen();
      const value: unknown = Reflect.apply(method, target, values);
      // `on` and its like give the client itself, so that calls can be chained.
      return value === target ? guarded : value;
    },
  });
}
