// The queue of collection operations, and the three commands by which the host drives them.
//
// The host (../engine_process.py) calls `dispatch("run")`, then again and again `dispatch("next")`, which hands it one
// queued operation, and `dispatch("resume")` with the operation's reply, until "next" reports the end. Before each
// "next" it drains the promise jobs. Everything crosses as JSON text; nothing of the script is called by the host.

const run = {
  __proto__: null,
  failure: undefined, // of `described`; the first one counts
  closed: false, // no operation may be queued any more
  first: undefined, // of the queued operations, a linked list of {operation, deliver, next}
  last: undefined,
  inFlight: undefined,
  accepted: 0,
  acceptUntil: 0, // ms since the epoch
  acceptAtMost: Infinity,
  finish: undefined, // () => the result, once everything is done
};

// The compiled function, or undefined after the failure was noted.
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

// Whether the operation was accepted: not when the time is nearly up. `deliver(reply)` runs after the current call.
function enqueue(operation, deliver) {
  if (run.closed || run.failure !== undefined) throw badRequest("The script has ended; it can queue no operation.");
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
    run.closed = true; // serialising the result may call a toJSON of the script
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

// `settings` is the document of ../trampoline.py.
function start(settings) {
  run.acceptUntil = now() + settings.acceptForMs;
  run.acceptAtMost = settings.acceptAtMost ?? Infinity;
  run.finish = exposeContext(settings);
  const entry = compiledOrFailed(settings.body);
  attempt(() => apply(entry, undefined, settings.arguments));
}

// Nothing of the script may be thrown at the host. `asString` makes a long concatenation one piece: the host's binding
// cannot take the ropes that QuickJS builds.
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
