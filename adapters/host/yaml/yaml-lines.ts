// Finds the line of a value in a YAML text.
import { isMap, isNode, LineCounter, parseDocument } from 'yaml'

/** Returns the line of a value at a path of keys and indexes, or of its nearest existing parent; lines count from 1. */
export function yamlLineLocator(text: string): (path: readonly PropertyKey[]) => number {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter })
  return (path) => {
    let offset = 0
    for (let length = 1; length <= path.length; length++) {
      const at = findOffset(document, path.slice(0, length))
      if (at === undefined) break
      offset = at
    }
    return counter.linePos(offset).line
  }
}

function findOffset(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number | undefined {
  const above = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (isMap(above)) {
    const pair = above.items.find(({ key }) => isNode(key) && String(key) === String(path.at(-1)))
    return isNode(pair?.key) ? pair.key.range?.[0] : undefined
  }
  const found = document.getIn(path, true)
  return isNode(found) ? found.range?.[0] : undefined
}
