// Plain data to YAML: a stream of documents.
import { stringify } from 'yaml'

/** Each document begins with `---`. Without aliases and folded lines, so that every reader takes it. */
export function formatYamlDocuments(documents: readonly unknown[]): string {
  return documents.map((each) => `---\n${stringify(each, { lineWidth: 0, aliasDuplicateObjects: false })}`).join('')
}
