// Keeps the heap of a daemon close to its live size; by default V8 lets it grow to four times that before a collection.
import { setFlagsFromString } from 'node:v8'

/** Call this before loading the code of roles. */
export function keepHeapSmall(): void {
  // In percent of the live size at the last collection.
  setFlagsFromString('--heap-growing-percent=50')
  // Loading code would grow the young generation, and an idle daemon never shrinks it.
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Call this once everything is loaded: under load, a larger young generation saves many collections. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
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
