// Finds the rule for a request: a tree of segments for each method, so that the cost does not grow with the list.
import { type AllowlistMethod, type AllowlistRule, allowlistMethods } from './rule.ts'

/**
 * The rule that allows the method on the path (in normal form); `'method'` when another method is allowed there;
 * undefined when no rule names the path. The most specific rule from the left matches: a literal segment before
 * `{name}` before a subtree.
 */
export type AllowlistMatcher = (method: string, path: string) => AllowlistRule | 'method' | undefined

type AllowlistNode = {
  readonly literal: Map<string, AllowlistNode>
  open: AllowlistNode | undefined
  rule: AllowlistRule | undefined
  below: AllowlistRule | undefined
}

/** Builds a matcher from rules of `parseAllowlist`, no two of which have one shape. */
export function compileAllowlist(rules: readonly AllowlistRule[]): AllowlistMatcher {
  const trees = new Map<string, AllowlistNode>(allowlistMethods.map((method) => [method, buildTree(rules, method)]))
  /** Paths without a placeholder, which most requests name: found without a walk. */
  const exact = new Map<string, Map<string, AllowlistRule>>(
    allowlistMethods.map((method) => [method, indexLiteralRules(rules, method)]),
  )
  return (method, path) => {
    const rule = exact.get(method)?.get(path)
    if (rule) return rule
    const tree = trees.get(method)
    const treeRule = tree && findInTree(tree, path, 1)
    if (treeRule) return treeRule
    for (const otherTree of trees.values()) if (otherTree !== tree && findInTree(otherTree, path, 1)) return 'method'
    return undefined
  }
}

function indexLiteralRules(rules: readonly AllowlistRule[], method: AllowlistMethod): Map<string, AllowlistRule> {
  const literal = rules.filter(
    (rule) => rule.method === method && !rule.isSubtree && !rule.segments.includes(undefined),
  )
  return new Map(literal.map((rule) => [`/${rule.segments.join('/')}`, rule]))
}

function buildTree(rules: readonly AllowlistRule[], method: AllowlistMethod): AllowlistNode {
  const root = emptyNode()
  for (const rule of rules) {
    if (rule.method !== method) continue
    let at = root
    for (const segment of rule.segments) at = segment === undefined ? descendOpen(at) : descendLiteral(at, segment)
    if (rule.isSubtree) at.below = rule
    else at.rule = rule
  }
  return root
}

function emptyNode(): AllowlistNode {
  return { literal: new Map(), open: undefined, rule: undefined, below: undefined }
}

function descendOpen(at: AllowlistNode): AllowlistNode {
  at.open ??= emptyNode()
  return at.open
}

function descendLiteral(at: AllowlistNode, segment: string): AllowlistNode {
  const next = at.literal.get(segment) ?? emptyNode()
  at.literal.set(segment, next)
  return next
}

/** Finds the rule below a node. `from`: start of the next segment; beyond the end of the path when there is none. */
function findInTree(at: AllowlistNode, path: string, from: number): AllowlistRule | undefined {
  if (from > path.length) return at.rule
  const slash = path.indexOf('/', from)
  const to = slash < 0 ? path.length : slash
  const next = at.literal.get(path.slice(from, to))
  const rule =
    (next && findInTree(next, path, to + 1)) ?? (at.open && to > from ? findInTree(at.open, path, to + 1) : undefined)
  return rule ?? (from < path.length ? at.below : undefined)
}
