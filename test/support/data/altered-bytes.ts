// Alterations of files: some bytes changed at places of a seed, or the end left out.
import { seededRandom } from '../random/seeded-random.ts'

/** Yields `count` altered copies of the bytes; `describe` is what reproduces one. */
export function* alterBytes(
  bytes: Uint8Array,
  count: number,
  first_seed = 1,
): Generator<{ readonly altered: Uint8Array; readonly describe: string }> {
  for (let seed = first_seed; seed < first_seed + count; seed++) {
    const random = seededRandom(seed)
    const altered = Uint8Array.from(random.happens(0.2) ? bytes.subarray(0, random.below(bytes.length)) : bytes)
    const changes = 1 + random.below(8)
    for (let change = 0; change < changes && altered.length > 0; change++)
      altered[random.below(altered.length)] = random.pick([0, 1, 0x7f, 0x80, 0xff, random.below(256)])
    yield { altered, describe: `seed ${seed}` }
  }
}
