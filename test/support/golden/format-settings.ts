// Writes docs/settings.md from the settings blocks themselves: section, setting, default, environment name, meaning.
import type * as z from 'zod'
import { envNames, metaOf, type SettingsBlock } from '../../../daemon/kernel/settings/settings.ts'

const head = `# Settings

Generated from the code by \`npm run accept\`; do not edit. A value comes from, in rising order of precedence: the default, the
profile, the environment, the command line. \`platform profile explain\` shows each value and its origin.
A secret setting can also be read from the file that \`NAME_FILE\` names, and is never printed. Relative paths of files
and folders begin at the folder of the profile.
`

export function formatSettings(blocks: readonly SettingsBlock[]): string {
  return [head, ...blocks.map(formatSection)].join('\n')
}

function formatSection({ name, shape }: SettingsBlock): string {
  const rows = Object.entries(shape).map(([field, schema]) => formatRow(field, schema))
  return [`## ${name}`, '', '| setting | default | environment | meaning |', '|---|---|---|---|', ...rows, ''].join(
    '\n',
  )
}

function formatRow(field: string, schema: z.ZodType): string {
  const meta = metaOf(schema)
  const environment = envNames(meta).map((name) => `\`${name}\``)
  const meaning = `${meta.doc}${meta.secret ? ' Secret.' : ''}`
  return `| \`${field}\` | ${formatDefault(schema)} | ${environment.join(', ')} | ${meaning.replaceAll('|', '\\|')} |`
}

function formatDefault(schema: z.ZodType): string {
  const absent = schema.safeParse(undefined)
  if (!absent.success) return 'required'
  return absent.data === undefined ? '' : `\`${JSON.stringify(absent.data)}\``
}
