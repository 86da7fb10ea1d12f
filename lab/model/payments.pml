/*
 * One order, two processes of a merchant, and the three ways into a credit: the webhook, the
 * return page, the schedule. The processes can crash before each step. Answers of the service,
 * reads and writes can fail at each step.
 *
 * `pnpm lab model` checks this design, and the broken designs: each name after `ifdef` is one.
 */
#ifndef FAULTS
#define FAULTS 2
#endif

mtype = { webhook, page, schedule };
mtype = { unknown, pending, failed, success };
mtype = { isPaid, isPending, isFailed, differs, notCredited, unavailable };

/* The service. The payment has the amount and the currency of the order, or not. */
mtype service = pending;
bool matches;

/* The merchant's database: the order's row, and the effects of its credit. */
bool paid = false;
byte credits = 0;

/* The memory of each process, which a crash clears. */
bool running[2];
mtype last[2] = unavailable;    /* the outcome of the last run */
mtype cached[2] = unknown;      /* the service's last answer */

/* The requests of a process that crashed, until they come again. */
bool killed[4];

/* How many faults can still happen: crashes, lost answers, lost writes, reads that lag. */
byte faults = FAULTS;

/* A read of the order's row that can lag behind. */
inline find(row) {
  if
  :: row = paid
  :: faults > 0 -> faults--; row = false
  fi
}

/* A page and a schedule reuse an answer. A webhook reuses only a success. */
inline ask(answer) {
  if
#ifdef NO_CONFIRMATION
  :: way == webhook -> answer = success
#endif
  :: cached[p] == success || (way != webhook && cached[p] != unknown) -> answer = cached[p]
  :: answer = service; cached[p] = answer
  :: faults > 0 -> faults--; answer = unknown
  fi;
  printf("STEP %e %d asks %e\n", way, p, answer)
}

/* One conditional write. The write and its answer can be lost. */
inline write(condition) {
  if
  :: condition -> paid = true; credits++;
     assert(credits <= 1);
     assert(service == success && matches)
  :: else
  fi
}

inline forget() { row = false; answer = unknown; outcome = unavailable; wasPaid = false }

/*
 * Requests of one way into one process, one after the other. A crash ends the request, and the next
 * one follows: the service delivers again, the customer loads the page again, the schedule is due.
 */
proctype Requests(byte p; mtype way) {
  bool row, wasPaid;
  mtype answer = unknown, outcome = unavailable;

start:
  {
    atomic {
      wasPaid = (way == webhook && service == success && matches);
      printf("STEP %e %d starts\n", way, p);
#ifdef ACKNOWLEDGED_FIRST
      assert(!wasPaid || paid)
#endif
    };

join: /* One run per order in a process. Who comes later waits, then reads the row. */
    atomic {
      if
      :: !running[p] -> running[p] = true; goto run_
      :: else -> printf("STEP %e %d joins\n", way, p)
      fi
    };
    atomic {
      !running[p];
      find(row);
      if
      :: row -> outcome = isPaid; goto reply
#ifdef OUTCOME_SHARED
      :: else -> outcome = last[p]; goto reply
#else
      :: !row && way == webhook -> goto join
      :: !row && way != webhook ->
         outcome = (last[p] == isPaid -> notCredited : last[p]); goto reply
#endif
      fi
    };

run_: /* From the order to the outcome: find, ask, compare, credit, find again. */
    atomic {
      find(row);
      if
      :: row -> outcome = isPaid; goto ended
      :: else
      fi
    };
    atomic {
      ask(answer);
      if
      :: answer == unknown -> outcome = unavailable; goto ended
      :: answer == pending -> outcome = isPending; goto ended
      :: answer == failed -> outcome = isFailed; goto ended
      :: answer == success && !matches -> outcome = differs; goto ended
      :: answer == success && matches
      fi
    };
#ifdef READ_THEN_WRITE
    row = paid;
#endif
    atomic {
      if
#ifdef READ_THEN_WRITE
      :: write(!row)
#else
#ifdef UNCONDITIONAL
      :: write(true)
#else
      :: write(!paid)
#endif
#endif
      :: faults > 0 -> faults--
      fi;
      row = false
    };
    atomic {
#ifdef COUNT_TRUSTED
      row = true;
#else
      find(row);
#endif
      outcome = (row -> isPaid : notCredited)
    };

ended:
    atomic { last[p] = outcome; running[p] = false; row = false; answer = unknown };

reply:
    atomic {
      printf("STEP %e %d ends %e\n", way, p, outcome);
      /* 200 only if the row says paid, or the service says that nothing was paid. */
      assert(outcome != isPaid || paid);
      assert(outcome != isFailed || !wasPaid);
      forget();
      goto start
    }
  } unless { atomic { killed[way] -> killed[way] = false; forget() } };
  goto start
}

/* The payment can fail before a second try succeeds, or never succeed. */
proctype Customer() {
  do
  :: atomic { service != failed -> service = failed; printf("STEP customer fails\n") }
  :: atomic { service = success; printf("STEP customer pays\n"); break }
  :: break
  od
}

proctype Crashes() {
  byte p;
  do
  :: atomic {
       faults > 0 -> faults--;
       if
       :: p = 0; killed[webhook] = true; killed[page] = true
       :: p = 1; killed[schedule] = true
       fi;
#ifndef LOCK_SURVIVES
       running[p] = false;
#endif
       cached[p] = unknown; last[p] = unavailable;
       printf("STEP process %d crashes\n", p); p = 0
     }
  od
}

/* An answer is forgotten after two seconds. */
proctype Clock() {
  do
  :: cached[0] != unknown -> cached[0] = unknown
  :: cached[1] != unknown -> cached[1] = unknown
  od
}

init {
  atomic {
    if
    :: matches = true
    :: matches = false
    fi;
    run Customer(); run Crashes(); run Clock();
    run Requests(0, webhook); run Requests(0, page);
    run Requests(1, schedule)
  }
}

/* What was paid is credited in the end, by the schedule at the latest. */
ltl nothingLost { [] ((service == success && matches) -> <> paid) }
