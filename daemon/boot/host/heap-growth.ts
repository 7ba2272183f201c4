// Keeps the heap of a daemon near what lives in it: left alone it grows to four times of that before anybody looks.
import { setFlagsFromString } from 'node:v8'

/** Call it before a role's code is loaded. */
export function keepHeapSmall(): void {
  // In percent of what was alive at the last collection.
  setFlagsFromString('--heap-growing-percent=50')
  // Loading alone would widen the space for what is new, and an idle daemon never gives that back.
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Once all is loaded: under load, a wider space for what is new saves much of the collecting. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}

/**
 * For threads that begin after this, and serve strangers: what a request leaves behind is dead by the next collection where the
 * space for what is new is wide, and costs nothing then; in 4 MB a quarter of it would still be alive, and be moved twice.
 * Each core has a thread that serves, so helpers beside them would take from them, and spend more in all. What the flag of V8 for
 * no helpers at all stands for is only looked at when V8 starts.
 */
export function widenYoungSpaceForThreads(): void {
  setFlagsFromString('--max-semi-space-size=16')
  setFlagsFromString('--no-parallel-scavenge')
}
