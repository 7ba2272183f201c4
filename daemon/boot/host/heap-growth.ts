// Keeps the memory of a daemon close to its live size.
import { setFlagsFromString } from 'node:v8'

/** A start that takes longer has work to do, and is worth optimising. */
const start_ms = 1_000

/**
 * Call this before loading the code of roles, and the result once everything is loaded. In between, little code runs twice:
 * compilers that optimise it would only read their own code in, and leave memory behind in each of their threads, 15 MB together.
 */
export function loadInLittleMemory(): () => void {
  // In percent of the live size at the last collection; by default V8 lets the heap grow to four times that.
  setFlagsFromString('--heap-growing-percent=50')
  // Loading code would grow the young generation, and an idle daemon never shrinks it. Under load, a larger one saves many collections.
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--no-maglev')
  setFlagsFromString('--no-opt')
  const timer = setTimeout(optimise, start_ms).unref()
  return () => {
    clearTimeout(timer)
    optimise()
    setFlagsFromString('--semi-space-growth-factor=2')
  }
}

function optimise(): void {
  setFlagsFromString('--maglev')
  setFlagsFromString('--opt')
}

/**
 * Enlarges the young generation of threads that start later and serve public requests. The objects of a request are then
 * dead at the next collection and cost nothing; with 4 MB, a quarter of them would survive and be copied twice. Every core
 * runs a serving thread, so helper threads of the collector would slow them down. V8 reads its flag that disables all
 * helpers only at its start, so this disables the parallel scavenger.
 */
export function widenYoungSpaceForThreads(): void {
  setFlagsFromString('--max-semi-space-size=16')
  setFlagsFromString('--no-parallel-scavenge')
}
