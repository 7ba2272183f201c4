// Finds the rule for a request: a tree of segments for each method, so that the cost does not grow with the list.
import { type Method, methods, type Rule } from './rule.ts'

/**
 * The rule that allows the method on the path (in normal form); `'method'` when another method is allowed there;
 * undefined when no rule names the path. Of several rules the one that is most exact from the left counts: a literal
 * segment before `{name}` before a subtree.
 */
export type Matcher = (method: string, path: string) => Rule | 'method' | undefined

type Node = {
  readonly literal: Map<string, Node>
  open: Node | undefined
  here: Rule | undefined
  below: Rule | undefined
}

/** Rules of `parseAllowlist`: no two of one shape. */
export function compileAllowlist(rules: readonly Rule[]): Matcher {
  const trees = new Map<string, Node>(methods.map((method) => [method, grown(rules, method)]))
  /** Paths without an open place, by far the most asked for: found without a walk. */
  const exact = new Map<string, Map<string, Rule>>(methods.map((method) => [method, exactly(rules, method)]))
  return (method, path) => {
    const rule = exact.get(method)?.get(path)
    if (rule) return rule
    const tree = trees.get(method)
    const found = tree && walk(tree, path, 1)
    if (found) return found
    for (const other of trees.values()) if (other !== tree && walk(other, path, 1)) return 'method'
    return undefined
  }
}

function exactly(rules: readonly Rule[], method: Method): Map<string, Rule> {
  const literal = rules.filter(
    (rule) => rule.method === method && !rule.isSubtree && !rule.segments.includes(undefined),
  )
  return new Map(literal.map((rule) => [`/${rule.segments.join('/')}`, rule]))
}

function grown(rules: readonly Rule[], method: Method): Node {
  const root = node()
  for (const rule of rules) {
    if (rule.method !== method) continue
    let at = root
    for (const segment of rule.segments) at = segment === undefined ? opened(at) : literally(at, segment)
    if (rule.isSubtree) at.below = rule
    else at.here = rule
  }
  return root
}

function node(): Node {
  return { literal: new Map(), open: undefined, here: undefined, below: undefined }
}

function opened(at: Node): Node {
  at.open ??= node()
  return at.open
}

function literally(at: Node, segment: string): Node {
  const next = at.literal.get(segment) ?? node()
  at.literal.set(segment, next)
  return next
}

/** `from`: where the next segment begins; past the end of the path when there is none. */
function walk(at: Node, path: string, from: number): Rule | undefined {
  if (from > path.length) return at.here
  const slash = path.indexOf('/', from)
  const to = slash < 0 ? path.length : slash
  const next = at.literal.get(path.slice(from, to))
  const found = (next && walk(next, path, to + 1)) ?? (at.open && to > from ? walk(at.open, path, to + 1) : undefined)
  return found ?? (from < path.length ? at.below : undefined)
}
