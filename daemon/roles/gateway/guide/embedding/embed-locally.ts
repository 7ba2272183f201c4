// A vector of a text by the n-grams of its characters: the same on every machine, without a model.

export const local_model_name = 'char-ngrams-3-5-d512-v1'
const dimension = 512
const sizes = [3, 4, 5]
/** Of one text: some milliseconds. */
const max_characters = 16_384
/** Precision of stored numbers; the cosine of two vectors changes by less than 0.002. */
const precision = 10_000

/** Of length 1; all zeros for a text without letters and digits. Each n-gram is counted by a signed hash (feature hashing). */
export function embedLocally(text: string): number[] {
  const codes = normalise(text)
  const counts = new Map<number, number>()
  for (const size of sizes)
    for (let at = 0; at + size <= codes.length; at += 1) {
      const hash = hashPiece(codes, at, size)
      counts.set(hash, (counts.get(hash) ?? 0) + 1)
    }
  const vector = new Float64Array(dimension)
  for (const [hash, count] of counts) {
    // Each repetition of a piece counts for less.
    const weight = 1 + Math.log(count)
    const at = hash % dimension
    vector[at] = (vector[at] ?? 0) + ((hash >>> 16) & 1 ? weight : -weight)
  }
  const length = Math.hypot(...vector)
  return Array.from(vector, (value) => (length === 0 ? 0 : Math.round((value / length) * precision) / precision))
}

/** Lower case; everything but letters and digits is one blank between words. */
function normalise(text: string): number[] {
  const plain = text
    .slice(0, max_characters)
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  if (plain === '') return []
  const codes: number[] = []
  for (let at = 0; at < Math.min(plain.length, max_characters); at += 1) codes.push(plain.charCodeAt(at))
  return [32, ...codes, 32]
}

/** FNV-1a over the code units, with a final mix: neighbouring texts fall into different places. */
function hashPiece(codes: readonly number[], from: number, size: number): number {
  let hash = 0x81_1c_9d_c5 ^ size
  for (let at = from; at < from + size; at += 1) hash = Math.imul(hash ^ (codes[at] ?? 0), 0x01_00_01_93)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c_1b_3c_6d)
  return (hash ^ (hash >>> 12)) >>> 0
}
