// Shows each setting with its value, its origin and its meaning.

import { nearestWord } from '../../../daemon/kernel/error/nearest-word.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'profile explain',
  summary: 'Explain each setting: value, origin, meaning',
  notes: 'Secrets are redacted. Exit code 5: the profile has faults.',
  positionals: { setting: text('SETTING', 'Section, or section.field (default: all)') },
  options: { ...siteOption, ...jsonOption },
  example: 'platform profile explain consensus.port',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const { resolveProfile } = await offline.profile()
    const { explained, problems } = resolveProfile(folder, terminal.env)
    const { setting: wanted } = given
    const shown = explained.filter(
      ({ setting }) => wanted === undefined || setting === wanted || setting.startsWith(`${wanted}.`),
    )
    if (shown.length === 0)
      throw new CommandFailure(2, `the setting "${wanted}" does not exist`, suggestSetting(wanted, explained))
    const columns = [
      'setting',
      { heading: 'value', cell: (row: { value?: unknown }) => formatSettingValue(row.value) },
      'origin',
    ]
    const meaning = { heading: 'meaning', cell: (row: { doc?: unknown }) => row.doc }
    const wide = [...columns, meaning]
    printResult(terminal, given.json, { settings: shown, problems }, () =>
      formatTable(terminal, shown, wide, 'there are no settings'),
    )
    for (const { path, message } of problems) terminal.note(`fault: ${path}: ${message}`)
    return problems.length === 0 ? 0 : 5
  },
})

/** A section or a setting: a word without a dot is taken for a section, or for a field whose section was left out. */
function suggestSetting(wanted = '', known: readonly { readonly setting: string }[]): string {
  const settings = known.map(({ setting }) => setting)
  const sections = [...new Set(settings.map((setting) => setting.split('.')[0] ?? ''))]
  if (wanted.includes('.')) return `did you mean "${nearestWord(wanted, settings)}"?`
  const fields = new Map(settings.map((setting) => [setting.split('.')[1] ?? '', setting]))
  const meant = nearestWord(wanted, [...sections, ...fields.keys()])
  return `did you mean "${fields.get(meant) ?? meant}"?`
}

function formatSettingValue(value: unknown): string {
  if (value === undefined) return '(unset)'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
