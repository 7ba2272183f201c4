// Parses the SQL that Splink's libraries write for levels and blocking rules, where a lens has an equivalent.
import type { ComparisonLevelSpec } from './comparison.ts'

type SplinkCondition = {
  readonly level: ComparisonLevelSpec | 'equal' | 'else'
  readonly column?: string
  readonly q?: number
}

const seconds_per_day = 86_400

/** Parses the condition of a level on one column; undefined where a lens has no equivalent. */
export function parseCondition(sql: string): SplinkCondition | undefined {
  const text = simplifySql(sql)
  if (/^else$/i.test(text)) return { level: 'else' }
  return (
    parseEquality(text) ??
    parseSimilarity(text) ??
    parseDateDifference(text) ??
    parseNumericDifference(text) ??
    parseSetIntersection(text)
  )
}

/** Removes quotation marks around names, and writes views of a value as `view(name)`. */
function simplifySql(sql: string): string {
  return sql
    .replaceAll('"', '')
    .replaceAll('`', '')
    .replace(/NULLIF\(\s*regexp_extract\(\s*(\w+)\s*,\s*'\^\[\^@\]\+'\s*(?:,\s*0\s*)?\)\s*,\s*''\s*\)/gi, 'user($1)')
    .replace(/SUBSTR(?:ING)?\(\s*([\w.]+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)/gi, 'substr_$2_$3($1)')
    .trim()
}

type SplinkOperand = { readonly column: string; readonly view: string | undefined }

/** Matches `name_l`, `user(name_l)` or `substr_1_4(name_l)` with its counterpart of the other record. */
function matchOperands(left: string, right: string): SplinkOperand | undefined {
  const [first, second] = [left, right].map((side) => /^(?:(user|substr_\d+_\d+)\()?(\w+)_([lr])\)?$/.exec(side.trim()))
  if (!first || !second || first[1] !== second[1] || first[2] !== second[2]) return undefined
  if (first[3] !== 'l' || second[3] !== 'r') return undefined
  const [, view, column = ''] = first
  return { column, view: view?.replace(/^substr_(\d+)_(\d+)$/, 'substr($1, $2)') }
}

function parseEquality(text: string): SplinkCondition | undefined {
  const [, left, right] = /^([^=<>]+?)\s*=\s*([^=<>]+)$/.exec(text) ?? []
  const sides = left && right ? matchOperands(left, right) : undefined
  if (!sides) return undefined
  const { column, view } = sides
  return view === undefined ? { level: 'equal', column } : { level: { comparator: 'exact', of: view }, column }
}

const similarityComparators = {
  jaro_winkler_similarity: 'jaro_winkler',
  jaro_winkler: 'jaro_winkler',
  jaccard: 'qgram_jaccard',
  levenshtein: 'levenshtein',
  damerau_levenshtein: 'damerau_levenshtein',
} as const

function parseSimilarity(text: string): SplinkCondition | undefined {
  const [, name = '', left, right, sign, number] = /^(\w+)\((.+?),\s*(.+)\)\s*(>=|<=)\s*([\d.]+)$/.exec(text) ?? []
  const sides = left && right ? matchOperands(left, right) : undefined
  const comparator = similarityComparators[name.toLowerCase() as keyof typeof similarityComparators]
  if (!sides || !comparator) return undefined
  const isDistance = comparator === 'levenshtein' || comparator === 'damerau_levenshtein'
  if ((sign === '<=') !== isDistance) return undefined
  const { column, view } = sides
  const level = { comparator, at: Number(number), ...(view === undefined ? {} : { of: view }) }
  // Splink's backend compares the sets of single letters.
  return { level, column, ...(comparator === 'qgram_jaccard' ? { q: 1 } : {}) }
}

function parseDateDifference(text: string): SplinkCondition | undefined {
  const instant = String.raw`EPOCH\((?:try_strptime|strptime|try_cast|cast)?\(?\s*(\w+)_([lr])\b[^()]*\)*`
  const [, column, left, other, right, seconds] =
    new RegExp(`^ABS\\(\\s*${instant}\\s*-\\s*${instant}\\s*<=\\s*([\\d.]+)$`, 'i').exec(text) ?? []
  if (!column || column !== other || left !== 'l' || right !== 'r') return undefined
  return { level: { comparator: 'date', at: Number(seconds) / seconds_per_day }, column }
}

function parseNumericDifference(text: string): SplinkCondition | undefined {
  const [, column, other, number] = /^ABS\(\s*(\w+)_l\s*-\s*(\w+)_r\s*\)\s*<=\s*([\d.]+)$/i.exec(text) ?? []
  if (!column || column !== other) return undefined
  return { level: { comparator: 'numeric', at: Number(number) }, column }
}

function parseSetIntersection(text: string): SplinkCondition | undefined {
  const pattern =
    /^(?:array_length|len|list_count|cardinality)\(\s*list_intersect\(\s*(\w+)_l\s*,\s*(\w+)_r\s*\)\s*\)\s*>=\s*(\d+)$/i
  const [, column, other, number] = pattern.exec(text) ?? []
  if (!column || column !== other || Number(number) < 1) return undefined
  return { level: { comparator: 'set_overlap', at: Number(number) }, column }
}

/** Parses a rule on equal columns or equal parts of them to key expressions. `names` maps columns to fields. */
export function parseBlockingRule(
  sql: string,
  names: ReadonlyMap<string, string>,
  dates: ReadonlySet<string>,
): string[] | undefined {
  const keys = simplifySql(sql)
    .split(/\s+AND\s+/i)
    .map((part) => parseEqualKey(part.trim().replace(/^\((.*)\)$/, '$1'), names, dates))
  return keys.every((key) => key !== undefined) ? keys : undefined
}

function parseEqualKey(
  part: string,
  names: ReadonlyMap<string, string>,
  dates: ReadonlySet<string>,
): string | undefined {
  const side = String.raw`(?:substr_(\d+)_(\d+)\()?([lr])\.(\w+)\)?`
  const match = new RegExp(`^${side}\\s*=\\s*${side}$`).exec(part.trim())
  if (!match) return undefined
  const [, from, length, left, column = '', otherFrom, otherLength, right, other] = match
  const name = names.get(column)
  if (name === undefined || column !== other || from !== otherFrom || length !== otherLength || left === right)
    return undefined
  if (from === undefined) return name
  // Normalised dates have no hyphens, so positions shift.
  if (dates.has(column))
    return from === '1' && length === '4'
      ? `${name}:year`
      : from === '1' && length === '7'
        ? `${name}:year_month`
        : undefined
  return from === '1' ? `${name}:prefix(${length})` : `${name}:substr(${from}, ${length})`
}
