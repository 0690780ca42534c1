// The queue of collection operations and the host's three commands.
//
// The host (../engine_process.py) calls `dispatch("run")`. It then alternates `dispatch("next")`, which returns a
// queued operation, and `dispatch("resume")` with its reply, until "next" reports the end. Before each "next", the host
// runs the promise jobs. All data is exchanged as JSON text, and the host never calls a script function.

const run = {
  __proto__: null,
  failure: undefined, // from `described`; only the first failure counts
  closed: false, // no more operations can be queued
  first: undefined, // head of the queue, a linked list of {operation, deliver, next}
  last: undefined,
  inFlight: undefined,
  accepted: 0,
  acceptUntil: 0, // ms since the epoch
  acceptAtMost: Infinity,
  finish: undefined, // () => the result, called when the queue is empty
};

// Returns the compiled function, or undefined after recording the failure.
function compiledOrFailed(body) {
  try {
    return compiled(body);
  } catch (error) {
    run.failure = described(error);
    run.failure.whileCompiling = true;
    return undefined;
  }
}

function attempt(action) {
  if (run.failure !== undefined) return;
  try {
    action();
  } catch (error) {
    run.failure ??= described(error);
  }
}

// Returns whether the operation was accepted; it is not when time is nearly up. `deliver(reply)` runs later.
function enqueue(operation, deliver) {
  if (run.closed || run.failure !== undefined) throw badRequest("The script has ended and cannot queue operations.");
  if (run.accepted >= run.acceptAtMost || now() > run.acceptUntil) return false;
  const entry = { __proto__: null, operation: recordText(operation), deliver, next: undefined };
  if (run.first === undefined) run.first = entry;
  else run.last.next = entry;
  run.last = entry;
  run.accepted += 1;
  return true;
}

const failedStep = () => recordText({ __proto__: null, step: "failed", failure: run.failure });

function nextStep() {
  if (run.failure === undefined && run.first === undefined) {
    run.closed = true; // serializing the result can call the script's toJSON
    let result;
    attempt(() => {
      result = run.finish();
    });
    if (run.failure === undefined) return recordText({ __proto__: null, step: "done", result });
  }
  if (run.failure !== undefined) return failedStep();
  run.inFlight = run.first;
  run.first = run.first.next;
  return `{"step":"operation","operation":${run.inFlight.operation}}`;
}

function resume(text) {
  const { deliver } = run.inFlight;
  run.inFlight = undefined;
  attempt(() => deliver(parse(text)));
}

// `settings` comes from ../trampoline.py.
function start(settings) {
  run.acceptUntil = now() + settings.acceptForMs;
  run.acceptAtMost = settings.acceptAtMost ?? Infinity;
  run.finish = exposeContext(settings);
  if (settings.clock) setClock(settings.clock);
  if (settings.hidesNewer) hideNewer();
  const entry = compiledOrFailed(settings.body);
  attempt(() => apply(entry, undefined, settings.arguments));
}

// Never throws. `asString` flattens long concatenations, because the host's binding does not support QuickJS ropes.
function dispatch(command, text) {
  try {
    if (command === "run") start(parse(text));
    else if (command === "resume") resume(text);
    else return asString(nextStep());
  } catch (error) {
    run.failure ??= described(error);
  }
  return command === "next" ? asString(failedStep()) : "";
}
