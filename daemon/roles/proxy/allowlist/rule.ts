// One entry of the allowlist, `METHOD /path [limit=N] [cache=S]`, and the text that a list of them is written as.
import { normaliseTarget } from '../request/path.ts'

/** No other method can be allowlisted. */
export const allowlistMethods = ['GET', 'HEAD', 'POST'] as const
export type AllowlistMethod = (typeof allowlistMethods)[number]

export type AllowlistRule = {
  /** `GET /api/v1/report/{id}`: what audit records, metrics and explanations call it. */
  readonly name: string
  readonly method: AllowlistMethod
  /** A string is that segment, undefined is any one segment. */
  readonly segments: readonly (string | undefined)[]
  /** Everything below the segments too, but not the path that they make themselves. */
  readonly isSubtree: boolean
  /** Requests a source may make by this rule in a window, besides what the general limits allow it. */
  readonly limit?: number
  /** Seconds for which answers are kept, where that is less than CACHE_TTL_S; 0 keeps none. */
  readonly cache_s?: number
}

/** What is wrong with an entry: its line in the text, from 1, the entry as written, and what to do about it. */
export type AllowlistFault = { readonly line: number; readonly entry: string; readonly says: string }

export type Allowlist = { readonly rules: readonly AllowlistRule[]; readonly faults: readonly AllowlistFault[] }

const max_rules = 10_000
const max_shown_characters = 200

/**
 * Rules of a text: one a line, or several parted by commas. Empty lines and lines that begin with `#` say nothing. Rules are
 * good for use only while there is no fault.
 */
export function parseAllowlist(text: string): Allowlist {
  const rules = new Map<string, AllowlistRule>()
  const faults: AllowlistFault[] = []
  for (const [at, whole] of text.split(/\r?\n/).entries()) {
    if (whole.trimStart().startsWith('#')) continue
    for (const entry of whole.split(',').map((each) => each.trim())) {
      if (entry === '') continue
      const rule = parseRule(entry)
      const says = 'says' in rule ? rule.says : findClash(rule, rules)
      if (says !== undefined) faults.push({ line: at + 1, entry: entry.slice(0, max_shown_characters), says })
      else if (!('says' in rule)) rules.set(shapeKey(rule), rule)
    }
  }
  return { rules: [...rules.values()], faults }
}

/** `line 3, "GET report": the path must begin with a slash`. */
export function formatRuleFault({ line, entry, says }: AllowlistFault): string {
  return `line ${line}, "${entry}": ${says}`
}

/** The rule as it is written, options included. */
export function formatRule({ name, limit, cache_s }: AllowlistRule): string {
  return [name, limit === undefined ? [] : `limit=${limit}`, cache_s === undefined ? [] : `cache=${cache_s}`]
    .flat()
    .join(' ')
}

type RuleParseFault = { readonly says: string }

export function parseRule(entry: string): AllowlistRule | RuleParseFault {
  const [word = '', path, ...options] = entry.split(/[ \t]+/)
  const method = allowlistMethods.find((known) => known === word)
  if (!method) return { says: describeMethodFault(word) }
  if (path === undefined) return { says: 'the path is missing: METHOD /path' }
  const shape = parsePath(path)
  if ('says' in shape) return shape
  // One rule each: a subtree of writes would name what nobody looked at.
  if (method === 'POST' && shape.isSubtree) return { says: 'POST takes no /*: name each path that may be written to' }
  const parsedOptions = parseOptions(method, options)
  return 'says' in parsedOptions ? parsedOptions : { name: `${method} ${path}`, method, ...shape, ...parsedOptions }
}

function describeMethodFault(word: string): string {
  const upper = allowlistMethods.find((known) => known === word.toUpperCase())
  if (upper) return `methods are written in capitals: ${upper}`
  return `"${word.slice(0, 20)}" may not be allowlisted: GET, HEAD and POST alone`
}

type RuleShape = Pick<AllowlistRule, 'segments' | 'isSubtree'>

function parsePath(path: string): RuleShape | RuleParseFault {
  if (!path.startsWith('/')) return { says: 'the path must begin with a slash' }
  if (path.includes('?') || path.includes('#'))
    return { says: 'a rule has no query and no fragment: it allows any query' }
  const isSubtree = path.endsWith('/*')
  const parts = (isSubtree ? path.slice(0, -2) : path).split('/').slice(1)
  const segments: (string | undefined)[] = []
  for (const part of parts) {
    if (/^\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(part)) segments.push(undefined)
    else if (/[{}*]/.test(part))
      return { says: '{name} stands for one whole segment, /* at the end for a subtree; nothing else' }
    else segments.push(part)
  }
  // With a plain name in each open place the path must be one that a request can have.
  const plain = `/${segments.map((segment) => segment ?? 'name').join('/')}`
  const normal = normaliseTarget(isSubtree ? `${plain}/name` : plain, 0)
  if ('denied' in normal) return { says: 'no request can have this path: write it unescaped, or with valid escapes' }
  const normal_form = isSubtree ? normal.path.slice(0, -'/name'.length) : normal.path
  if (normal_form !== (plain === '/' && isSubtree ? '' : plain))
    return { says: `requests for it are read as ${normal_form}: write that` }
  return { segments, isSubtree }
}

function parseOptions(
  method: AllowlistMethod,
  options: readonly string[],
): Pick<AllowlistRule, 'limit' | 'cache_s'> | RuleParseFault {
  const parsedOptions: { limit?: number; cache_s?: number } = {}
  for (const option of options) {
    const [, name, digits] = /^(limit|cache)=(\d{1,9})$/.exec(option) ?? []
    if (!name)
      return { says: `"${option.slice(0, 40)}" is not known: limit=REQUESTS or cache=SECONDS may follow the path` }
    const key = name === 'limit' ? 'limit' : 'cache_s'
    if (parsedOptions[key] !== undefined) return { says: `${name}= is given twice` }
    parsedOptions[key] = Number(digits)
  }
  if (parsedOptions.limit === 0) return { says: 'limit=0 would serve nobody: leave the rule out' }
  if (method === 'POST' && parsedOptions.cache_s !== undefined)
    return { says: 'answers to POST are never cached: leave cache= out' }
  return parsedOptions
}

function findClash(rule: AllowlistRule, rules: ReadonlyMap<string, AllowlistRule>): string | undefined {
  if (rules.size >= max_rules) return `there may be ${max_rules} rules and no more`
  const other = rules.get(shapeKey(rule))
  return other ? `the same requests as "${other.name}": keep one of the two` : undefined
}

/** Rules of one shape match the same requests, whatever they call their open places. */
function shapeKey({ method, segments, isSubtree }: AllowlistRule): string {
  return `${method} /${segments.map((segment) => segment ?? '{}').join('/')}${isSubtree ? '/*' : ''}`
}
