// Shipped profiles as text, and edits of single values that keep comments.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Beside the bundle in the executable; at the root of the repository from sources. */
function findTemplateFolder(): string {
  const moduleFolder = dirname(fileURLToPath(import.meta.url))
  const bundled = join(moduleFolder, 'profiles')
  return existsSync(bundled) ? bundled : join(moduleFolder, '..', '..', '..', 'profiles')
}

/** Names of the shipped profiles, such as `classified-airgapped`. */
export function listTemplates(): string[] {
  return readdirSync(findTemplateFolder())
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort()
}

/** The text of a shipped profile; undefined if there is none of that name. */
export function readTemplate(name: string): string | undefined {
  return listTemplates().includes(name) ? readFileSync(join(findTemplateFolder(), `${name}.yaml`), 'utf8') : undefined
}

/**
 * The text with `section.field` set to a scalar or a list of names: an existing line keeps its place and its comment, a missing one is
 * added at the top of its section, a missing section at the end.
 */
export function withValue(
  text: string,
  section: string,
  field: string,
  value: string | number | readonly string[],
): string {
  const lines = text.split('\n')
  const line = `  ${field}: ${typeof value === 'object' ? `[${value.join(', ')}]` : JSON.stringify(value)}`
  const { start, fieldLine } = locateField(lines, section, field)
  if (start < 0) return `${text.trimEnd()}\n\n${section}:\n${line}\n`
  if (fieldLine < 0) return lines.toSpliced(start + 1, 0, line).join('\n')
  const comment = /\s+#.*$/.exec(lines[fieldLine] ?? '')?.[0] ?? ''
  return lines.with(fieldLine, line + comment).join('\n')
}

/** Whether the text sets `section.field`; a line that is commented out does not. */
export function hasValue(text: string, section: string, field: string): boolean {
  return locateField(text.split('\n'), section, field).fieldLine >= 0
}

/** Lines of a section and of its field, -1 if absent. */
function locateField(lines: readonly string[], section: string, field: string): { start: number; fieldLine: number } {
  const start = lines.indexOf(`${section}:`)
  if (start < 0) return { start, fieldLine: -1 }
  const nextSection = lines.findIndex((otherLine, index) => index > start && /^[^\s#]/.test(otherLine))
  const end = nextSection < 0 ? lines.length : nextSection
  return {
    start,
    fieldLine: lines.findIndex(
      (otherLine, index) => index > start && index < end && otherLine.startsWith(`  ${field}:`),
    ),
  }
}
