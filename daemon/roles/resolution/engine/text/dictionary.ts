// Distinct values of a column by number: equality is a comparison of integers, and kernels read code units, not
// strings.

/** Values in order of first appearance; `starts[code]` to `starts[code + 1]` are a value's UTF-16 code units. */
export type Dictionary = {
  readonly size: number
  readonly units: Uint16Array
  readonly starts: Uint32Array
}

/** A column: the number of each row's value, or -1 without one. `counts`: rows of each value, if already counted. */
export type DictionaryColumn = {
  readonly codes: Int32Array
  readonly dictionary: Dictionary
  readonly counts?: Int32Array
}

/** Numbers strings in the order of their first appearance. */
export class DictionaryBuilder {
  readonly #numbers = new Map<string, number>()

  /** Returns the number of a value; -1 for the empty string. */
  add(value: string): number {
    if (value === '') return -1
    const number = this.#numbers.get(value)
    if (number !== undefined) return number
    const code = this.#numbers.size
    this.#numbers.set(value, code)
    return code
  }

  finish(): Dictionary {
    return buildDictionary([...this.#numbers.keys()])
  }
}

export function buildDictionary(values: readonly string[]): Dictionary {
  let length = 0
  for (const value of values) length += value.length
  const units = new Uint16Array(length)
  const starts = new Uint32Array(values.length + 1)
  let at = 0
  for (const [code, value] of values.entries()) {
    for (let index = 0; index < value.length; index++) units[at++] = value.charCodeAt(index)
    starts[code + 1] = at
  }
  return { size: values.length, units, starts }
}

/** Builds a dictionary from UTF-8 values, in order. */
export function buildDictionaryFromBytes({ bytes, starts }: { bytes: Uint8Array; starts: Uint32Array }): Dictionary {
  const isAscii = bytes.every((byte) => byte < 128)
  if (isAscii) return { size: starts.length - 1, units: Uint16Array.from(bytes), starts: starts.slice() }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const values = Array.from({ length: starts.length - 1 }, (_, code) => {
    return decoder.decode(bytes.subarray(starts[code]!, starts[code + 1]!))
  })
  return buildDictionary(values)
}

const max_chunk_units = 8_192

export function decodeText({ units, starts }: Dictionary, code: number): string {
  const from = starts[code]!
  const to = starts[code + 1]!
  if (to - from <= max_chunk_units)
    return String.fromCharCode.apply(null, units.subarray(from, to) as unknown as number[])
  let text = ''
  for (let at = from; at < to; at += max_chunk_units) {
    text += String.fromCharCode.apply(
      null,
      units.subarray(at, Math.min(to, at + max_chunk_units)) as unknown as number[],
    )
  }
  return text
}

/** Maps each value of the column by `view`, as to a key, a sound or a part. An empty result is a missing value. */
export function mapColumn(column: DictionaryColumn, view: (value: string) => string): DictionaryColumn {
  const builder = new DictionaryBuilder()
  const { dictionary, codes } = column
  const numbers = new Int32Array(dictionary.size)
  for (let code = 0; code < dictionary.size; code++) numbers[code] = builder.add(view(decodeText(dictionary, code)))
  return { codes: codes.map((code) => (code < 0 ? -1 : numbers[code]!)), dictionary: builder.finish() }
}

/** Counts the rows of each value. */
export function countRows({ codes, dictionary, counts: precomputed }: DictionaryColumn): Int32Array {
  if (precomputed) return precomputed
  const counts = new Int32Array(dictionary.size)
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!
    if (code >= 0) counts[code]!++
  }
  return counts
}
