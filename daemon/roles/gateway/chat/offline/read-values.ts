// The values in a message: named ones, quoted texts, ids and numbers; and the words that are left.

export type MessageValues = {
  /** Of `name=value` and `name: "value"`, names with underscores. */
  readonly named: ReadonlyMap<string, string>
  readonly quoted: readonly string[]
  /** Words with a digit, an underscore or an inner hyphen, as ids and names of objects have. */
  readonly ids: readonly string[]
  readonly numbers: readonly string[]
  /** Of "the last 5", as text. */
  readonly item_count: string | undefined
  /** In lower case, in their order. */
  readonly words: readonly string[]
  /** The message without values. */
  readonly rest: string
}

/** Longer messages are read up to here: words far behind do not name a tool. */
const max_characters = 4_096

// The quotes of one kind at both ends; no nesting of quantifiers, so that the time is proportional to the text.
const namedPattern =
  /(?<![\p{L}\d_])([A-Za-z][A-Za-z0-9_-]{0,63})\s?[=:]\s?("[^"\n]{1,512}"|'[^'\n]{1,512}'|[^\s"';]{1,256})/gu
const quotedPattern =
  /"([^"\n]{1,512})"|“([^”\n]{1,512})”|`([^`\n]{1,512})`|(?<![\p{L}\d])'([^'\n]{1,512})'(?![\p{L}\d])/gu
const wordPattern = /[\p{L}\d][\p{L}\d_.:@/-]{0,255}/gu
const countPattern =
  /\b(?:top|first|last|latest|newest|limit)\s(\d{1,4})\b(?!\s(?:second|minute|hour|day|week|month|year)s?\b)/i

export function readValues(message: string): MessageValues {
  const text = message.slice(0, max_characters)
  const named = new Map<string, string>()
  const afterNamed = text.replaceAll(namedPattern, (whole, name: string, value: string) => {
    // A colon after a word is punctuation more often than not.
    if (whole.includes(':') && !whole.includes('=') && !name.includes('_') && !/^["']/.test(value)) return whole
    named.set(name.toLowerCase().replaceAll('-', '_'), value.replace(/^(["'])(.*)\1$/, '$2').replace(/[.,;!?]$/, ''))
    return ' '
  })
  const quoted: string[] = []
  const afterQuoted = afterNamed.replaceAll(quotedPattern, (_, ...groups: unknown[]) => {
    quoted.push(String(groups.slice(0, 4).find((group) => typeof group === 'string') ?? ''))
    return ' '
  })
  const item_count = countPattern.exec(afterQuoted)?.[1]
  const [ids, numbers, words]: [string[], string[], string[]] = [[], [], []]
  const rest = afterQuoted.replaceAll(wordPattern, (raw) => {
    const word = raw.replace(/[.:/@-]+$/, '')
    words.push(...word.toLowerCase().split(/[_-]/))
    const isNumber = /^-?\d+(\.\d+)?$/.test(word)
    if (isNumber) numbers.push(word)
    else if (/\d|_|[\p{L}]-[\p{L}]|[\p{L}]@[\p{L}]/u.test(word)) ids.push(word)
    else return raw
    return ' '
  })
  return { named, quoted, ids, numbers, item_count, words, rest }
}
