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
