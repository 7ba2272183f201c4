// Runs a computation that is made for slices in one go, where no other work waits.

export function runToEnd<T>(computation: Iterator<undefined, T>): T {
  for (;;) {
    const { done, value } = computation.next()
    if (done) return value
  }
}
