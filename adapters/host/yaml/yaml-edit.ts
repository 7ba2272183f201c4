// Changes values in a YAML text and leaves all else in it as it was, remarks with it.
import { isCollection, isMap, parseDocument } from 'yaml'

export type YamlChange = { readonly path: readonly (string | number)[]; readonly value: unknown }

/** Sets each value in turn, and removes those set to `undefined`. Lists of numbers are printed in one line. */
export function editYaml(text: string, changes: readonly YamlChange[]): string {
  const document = parseDocument(text)
  for (const { path, value } of changes) {
    if (value === undefined) {
      document.deleteIn(path)
      continue
    }
    const above = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
    const node = document.createNode(value)
    if (isCollection(node)) node.flow = true
    // What holds more than a few words is read better line by line.
    if (isMap(above) && isCollection(node)) above.flow = false
    document.setIn(path, node)
  }
  return document.toString({ lineWidth: 0 })
}
