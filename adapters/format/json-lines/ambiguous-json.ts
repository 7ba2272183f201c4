// Finds what JSON.parse changes without notice: names that an object has twice, and halves of surrogate pairs.

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a]
const [openArray, endOfArray, openObject, endOfObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Levels of nesting that a record has at most. Only columns that are not read may have more than two. */
const max_depth = 64

/** The number of members in JSON, in objects at any depth: each has a colon outside of texts. Undefined where it is nested too deeply. */
export function countMembers(json: Uint8Array): number | undefined {
  let [count, depth, isText] = [0, 0, false]
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) isText = !isText
    else if (isText) at += byte === backslash ? 1 : 0
    else if (byte === colon) count++
    else if (byte === openObject || byte === openArray) depth++
    else if (byte === endOfObject || byte === endOfArray) depth--
    if (depth > max_depth) return undefined
  }
  return count
}

/** What two readers could read differently in the parsed record, whose text has so many members. */
export function findAmbiguity(
  record: Readonly<Record<string, unknown>>,
  members: number,
  text: string,
): string | undefined {
  if (countNames(record) !== members) return `the name ${JSON.stringify(findRepeatedName(text))} is repeated`
  if (!surrogateEscape.test(text)) return undefined
  const half = Object.entries(record).find(([name, value]) => !name.isWellFormed() || hasHalfPair(value))
  return half && `${JSON.stringify(half[0])} has half a surrogate pair, which is not a character`
}

const surrogateEscape = /\\u[dD][89a-fA-F]/

function countNames(value: object): number {
  const values = Object.values(value)
  let count = Array.isArray(value) ? 0 : values.length
  for (const each of values) if (typeof each === 'object' && each !== null) count += countNames(each)
  return count
}

function hasHalfPair(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, each]) => !name.isWellFormed() || hasHalfPair(each))
}

/** The first name of valid JSON that an object has twice. */
function findRepeatedName(json: string): string | undefined {
  /** Names so far of each object that is open; undefined for a list. */
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === openObject || code === openArray) open.push(code === openObject ? new Set() : undefined)
    else if (code === endOfObject || code === endOfArray) open.pop()
    else if (code === quote) {
      const end = findTextEnd(json, at)
      nameMark.lastIndex = end
      if (nameMark.test(json)) {
        const name = JSON.parse(json.slice(at, end)) as string
        if (open.at(-1)?.has(name)) return name
        open.at(-1)?.add(name)
      }
      at = end - 1
    }
  }
  return undefined
}

/** Follows the name of a member, and no other text. */
const nameMark = /[ \t\r\n]*:/y

/** The end of a text, behind its quotation mark. */
function findTextEnd(json: string, start: number): number {
  let at = start + 1
  while (json.charCodeAt(at) !== quote) at += json.charCodeAt(at) === backslash ? 2 : 1
  return at + 1
}
