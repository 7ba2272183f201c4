// Keeps the heap of a daemon near what lives in it: left alone it grows to four times of that before anybody looks.
import { setFlagsFromString } from 'node:v8'

/** Before there is much in the heap. */
export function keepHeapSmall(): void {
  // In percent of what was alive at the last collection.
  setFlagsFromString('--heap-growing-percent=50')
  // The space for what is new stays as it is.
  setFlagsFromString('--semi-space-growth-factor=1')
}
