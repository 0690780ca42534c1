// Hides built-ins after ES2017, which the service does not have (../edition.py). Symbols such as Symbol.dispose stay,
// because they cannot be deleted.

const newerBuiltIns = [
  [globalThis, "AggregateError AsyncDisposableStack BigInt BigInt64Array BigUint64Array DisposableStack " +
    "FinalizationRegistry Float16Array Iterator SuppressedError WeakRef globalThis"],
  [Array, "fromAsync"],
  [Array.prototype, "at findLast findLastIndex flat flatMap toReversed toSorted toSpliced with"],
  [getPrototypeOf(Int8Array.prototype), "at findLast findLastIndex toReversed toSorted with"],
  [Uint8Array, "fromBase64 fromHex"],
  [Uint8Array.prototype, "setFromBase64 setFromHex toBase64 toHex"],
  [ArrayBuffer.prototype, "detached maxByteLength resizable resize transfer transferToFixedLength"],
  [Atomics, "pause waitAsync"],
  [NativeError, "isError"],
  [JSON, "isRawJSON rawJSON"],
  [Map, "groupBy"],
  [Map.prototype, "getOrInsert getOrInsertComputed"],
  [Math, "f16round sumPrecise"],
  [Object, "fromEntries groupBy hasOwn"],
  [Promise, "allSettled any try withResolvers"],
  [Promise.prototype, "finally"],
  [RegExp, "escape"],
  [RegExp.prototype, "dotAll hasIndices unicodeSets"],
  [Set.prototype, "difference intersection isDisjointFrom isSubsetOf isSupersetOf symmetricDifference union"],
  [String.prototype, "at isWellFormed matchAll replaceAll toWellFormed trimEnd trimStart"],
  [Symbol.prototype, "description"],
  [getPrototypeOf(getPrototypeOf([][Symbol.iterator]())), "drop every filter find flatMap forEach map reduce some take " +
    "toArray"],
].map(([owner, names]) => [owner, names.split(" ")]);
const { deleteProperty } = Reflect;

// Call this after everything that uses globalThis.
function hideNewer() {
  for (let index = 0; index < newerBuiltIns.length; index += 1) {
    const names = newerBuiltIns[index][1];
    for (let at = 0; at < names.length; at += 1) deleteProperty(newerBuiltIns[index][0], names[at]);
  }
}
