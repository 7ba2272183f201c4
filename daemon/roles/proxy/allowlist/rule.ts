// One entry of the allowlist, `METHOD /path [limit=N] [cache=S]`, and the text form of a list of entries.
import { normaliseTarget } from '../../../kernel/forward/normal-target.ts'

/** Methods that can be allowlisted. */
export const allowlistMethods = ['GET', 'HEAD', 'POST'] as const
export type AllowlistMethod = (typeof allowlistMethods)[number]

export type AllowlistRule = {
  /** Name of the rule in audit records, metrics and explanations, such as `GET /api/v1/report/{id}`. */
  readonly name: string
  readonly method: AllowlistMethod
  /** Segments of the path: a string matches that segment, undefined matches any one segment. */
  readonly segments: readonly (string | undefined)[]
  /** True: also matches everything below the segments, but not the path of the segments itself. */
  readonly isSubtree: boolean
  /** Requests per source and window by this rule, in addition to the general limits. */
  readonly limit?: number
  /** Seconds for which responses are cached, if less than CACHE_TTL_S; 0: never cached. */
  readonly cache_s?: number
}

/** A fault of an entry: its line in the text, from 1, the entry as written, and the fault with its remedy. */
export type AllowlistFault = { readonly line: number; readonly entry: string; readonly message: string }

export type Allowlist = { readonly rules: readonly AllowlistRule[]; readonly faults: readonly AllowlistFault[] }

const max_rules = 10_000
const max_shown_characters = 200

/**
 * Parses rules, one per line or several separated by commas. Empty lines and lines that begin with `#` are ignored.
 * The rules may be used only when there is no fault.
 */
export function parseAllowlist(text: string): Allowlist {
  const rules = new Map<string, AllowlistRule>()
  const faults: AllowlistFault[] = []
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trimStart().startsWith('#')) continue
    for (const entry of line.split(',').map((each) => each.trim())) {
      if (entry === '') continue
      const rule = parseRule(entry)
      const message = 'message' in rule ? rule.message : findClash(rule, rules)
      if (message !== undefined) faults.push({ line: at + 1, entry: entry.slice(0, max_shown_characters), message })
      else if (!('message' in rule)) rules.set(shapeKey(rule), rule)
    }
  }
  return { rules: [...rules.values()], faults }
}

/** `line 3, "GET report": the path must begin with a slash`. */
export function formatRuleFault({ line, entry, message }: AllowlistFault): string {
  return `line ${line}, "${entry}": ${message}`
}

type RuleParseFault = { readonly message: string }

export function parseRule(entry: string): AllowlistRule | RuleParseFault {
  const [word = '', path, ...options] = entry.split(/[ \t]+/)
  const method = allowlistMethods.find((allowed) => allowed === word)
  if (!method) return { message: describeMethodFault(word) }
  if (path === undefined) return { message: 'the path is missing; write METHOD /path' }
  const shape = parsePath(path)
  if ('message' in shape) return shape
  // Each path needs its own rule: a subtree of writes would include paths that nobody reviewed.
  if (method === 'POST' && shape.isSubtree)
    return { message: 'POST does not allow /*: name each path that may be written to' }
  const parsedOptions = parseOptions(method, options)
  return 'message' in parsedOptions ? parsedOptions : { name: `${method} ${path}`, method, ...shape, ...parsedOptions }
}

function describeMethodFault(word: string): string {
  const upper = allowlistMethods.find((allowed) => allowed === word.toUpperCase())
  if (upper) return `methods are written in capitals: ${upper}`
  return `"${word.slice(0, 20)}" may not be allowlisted: only GET, HEAD and POST`
}

type RuleShape = Pick<AllowlistRule, 'segments' | 'isSubtree'>

function parsePath(path: string): RuleShape | RuleParseFault {
  if (!path.startsWith('/')) return { message: 'the path must begin with a slash' }
  if (path.includes('?') || path.includes('#'))
    return { message: 'a rule has no query and no fragment: it allows any query' }
  const isSubtree = path.endsWith('/*')
  const parts = (isSubtree ? path.slice(0, -2) : path).split('/').slice(1)
  const segments: (string | undefined)[] = []
  for (const part of parts) {
    if (/^\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(part)) segments.push(undefined)
    else if (/[{}*]/.test(part))
      return { message: '{name} stands for one whole segment, /* at the end for a subtree; nothing else' }
    else segments.push(part)
  }
  // With a name in place of each parameter, the path must be one that a request can have.
  const sample = `/${segments.map((segment) => segment ?? 'name').join('/')}`
  const normal = normaliseTarget(isSubtree ? `${sample}/name` : sample, 0)
  if ('denied' in normal) return { message: 'no request can have this path: write it unescaped, or with valid escapes' }
  const normal_form = isSubtree ? normal.path.slice(0, -'/name'.length) : normal.path
  if (normal_form !== (sample === '/' && isSubtree ? '' : sample))
    return { message: `requests for it are normalised to ${normal_form}: write that` }
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
      return { message: `"${option.slice(0, 40)}" is not known: limit=REQUESTS or cache=SECONDS may follow the path` }
    const key = name === 'limit' ? 'limit' : 'cache_s'
    if (parsedOptions[key] !== undefined) return { message: `${name}= is set twice` }
    parsedOptions[key] = Number(digits)
  }
  if (parsedOptions.limit === 0) return { message: 'limit=0 would refuse every request: remove the rule' }
  if (method === 'POST' && parsedOptions.cache_s !== undefined)
    return { message: 'responses to POST are never cached: remove cache=' }
  return parsedOptions
}

function findClash(rule: AllowlistRule, rules: ReadonlyMap<string, AllowlistRule>): string | undefined {
  if (rules.size >= max_rules) return `the allowlist has more than ${max_rules} rules, the maximum`
  const duplicate = rules.get(shapeKey(rule))
  return duplicate ? `the same requests as "${duplicate.name}": remove one of the two` : undefined
}

/** Key of a rule's shape: rules of one shape match the same requests, regardless of the names of their parameters. */
function shapeKey({ method, segments, isSubtree }: AllowlistRule): string {
  return `${method} /${segments.map((segment) => segment ?? '{}').join('/')}${isSubtree ? '/*' : ''}`
}
