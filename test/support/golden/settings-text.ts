// Writes docs/settings.md from the settings blocks themselves: section, setting, default, environment name, meaning.
import type * as z from 'zod'
import { type Block, envNames, metaOf } from '../../../daemon/kernel/settings.ts'

const head = `# Settings

Written from the code by \`npm run accept\`; do not edit. A setting comes from, in rising order: its default, the
profile, the environment, the command line. \`platform profile explain\` prints each one's value and where it is from.
A setting marked secret is read from the file that \`NAME_FILE\` names as well, and is never printed.
`

export function settingsText(blocks: readonly Block[]): string {
  return [head, ...blocks.map(sectionOf)].join('\n')
}

function sectionOf({ name, shape }: Block): string {
  const rows = Object.entries(shape).map(([field, schema]) => rowOf(field, schema))
  return [`## ${name}`, '', '| setting | default | environment | meaning |', '|---|---|---|---|', ...rows, ''].join(
    '\n',
  )
}

function rowOf(field: string, schema: z.ZodType): string {
  const meta = metaOf(schema)
  const environment = envNames(meta).map((name) => `\`${name}\``)
  const meaning = `${meta.doc}${meta.secret ? ' Secret.' : ''}`
  return `| \`${field}\` | ${defaultOf(schema)} | ${environment.join(', ')} | ${meaning.replaceAll('|', '\\|')} |`
}

function defaultOf(schema: z.ZodType): string {
  const absent = schema.safeParse(undefined)
  if (!absent.success) return 'required'
  return absent.data === undefined ? '' : `\`${JSON.stringify(absent.data)}\``
}
