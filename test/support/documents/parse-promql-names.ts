// The inputs of a PromQL expression: names of metrics with the labels that select, group or are named elsewhere.

export type PromqlNames = { readonly metrics: readonly string[]; readonly labels: readonly string[] }

const promqlWords = new Set([
  'by',
  'without',
  'and',
  'or',
  'unless',
  'on',
  'ignoring',
  'group_left',
  'group_right',
  'offset',
  'bool',
])

/** Enough of the language to find every name in it; not whether it is well formed. */
export function parsePromqlNames(expression: string): PromqlNames {
  const labels: string[] = []
  const plain = expression
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\{([^}]*)\}/g, (_, chosen: string) => {
      labels.push(...[...chosen.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)].map(([, name = '']) => name))
      return ''
    })
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g, (_, named: string) => {
      labels.push(...named.split(',').map((name) => name.trim()))
      return ''
    })
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\boffset\s+\w+/g, '')
  const names = [...plain.matchAll(/(?<![\w.])([a-z_:][a-z0-9_:]*)(?!\w)(?!\s*\()/g)].map(([, name = '']) => name)
  return { metrics: names.filter((name) => !promqlWords.has(name)), labels: labels.filter((name) => name !== '') }
}
