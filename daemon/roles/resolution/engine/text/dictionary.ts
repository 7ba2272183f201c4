// Distinct values of a column by number: comparing equal values is comparing integers, and kernels read code units,
// never strings.

/** Values in order of first appearance; `starts[code]` to `starts[code + 1]` are a value's UTF-16 code units. */
export type Dictionary = {
  readonly size: number
  readonly units: Uint16Array
  readonly starts: Uint32Array
}

/**
 * One value a row: its number in the dictionary, or -1 where there is none; `counts`: how many rows have each, if that
 * is known.
 */
export type DictionaryColumn = {
  readonly codes: Int32Array
  readonly dictionary: Dictionary
  readonly counts?: Int32Array
}

/** Numbers strings as they come. */
export class DictionaryBuilder {
  readonly #numbers = new Map<string, number>()

  /** The value's number; the empty string has none, which is -1. */
  add(value: string): number {
    if (value === '') return -1
    const known = this.#numbers.get(value)
    if (known !== undefined) return known
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

/** The same of values that are held as UTF-8, in their order. */
export function buildDictionaryFromBytes({ bytes, starts }: { bytes: Uint8Array; starts: Uint32Array }): Dictionary {
  const isPlain = bytes.every((byte) => byte < 128)
  if (isPlain) return { size: starts.length - 1, units: Uint16Array.from(bytes), starts: starts.slice() }
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

/**
 * Each value of the column seen through `view`: what a key, a sound or a part of it is. The empty string is no value.
 */
export function mapColumn(column: DictionaryColumn, view: (value: string) => string): DictionaryColumn {
  const builder = new DictionaryBuilder()
  const { dictionary, codes } = column
  const numbers = new Int32Array(dictionary.size)
  for (let code = 0; code < dictionary.size; code++) numbers[code] = builder.add(view(decodeText(dictionary, code)))
  return { codes: codes.map((code) => (code < 0 ? -1 : numbers[code]!)), dictionary: builder.finish() }
}

/** How many rows have each value. */
export function countRows({ codes, dictionary, counts: known }: DictionaryColumn): Int32Array {
  if (known) return known
  const counts = new Int32Array(dictionary.size)
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!
    if (code >= 0) counts[code]!++
  }
  return counts
}
