// Shows each setting with its value, its origin and its meaning.

import { nearestWord } from '../../../daemon/kernel/error/nearest-word.ts'
import { offline } from '../../../daemon/offline/offline.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
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
  async run(params, terminal) {
    const folder = requireOwnSite(params, terminal)
    const { resolveProfile } = await offline.profile()
    const { explained, problems } = resolveProfile(folder, terminal.env)
    const { setting: selector } = params
    const selected = explained.filter(
      ({ setting }) => selector === undefined || setting === selector || setting.startsWith(`${selector}.`),
    )
    if (selected.length === 0)
      throw new CommandFailure(2, `the setting "${selector}" does not exist`, suggestSetting(selector, explained))
    const columns = [
      'setting',
      { heading: 'value', cell: (row: { value?: unknown }) => formatSettingValue(row.value) },
      'origin',
    ]
    const meaning = { heading: 'meaning', cell: (row: { doc?: unknown }) => row.doc }
    const humanColumns = [...columns, meaning]
    printResult(terminal, params.json, { settings: selected, problems }, () =>
      formatTable(terminal, selected, humanColumns, 'no settings'),
    )
    for (const { path, message } of problems) terminal.note(`fault: ${path}: ${message}`)
    return problems.length === 0 ? 0 : 5
  },
})

/** Suggests a section or setting. A word without a dot is a section, or a field without its section. */
function suggestSetting(selector = '', entries: readonly { readonly setting: string }[]): string {
  const settings = entries.map(({ setting }) => setting)
  const sections = [...new Set(settings.map((setting) => setting.split('.')[0] ?? ''))]
  if (selector.includes('.')) return `did you mean "${nearestWord(selector, settings)}"?`
  // Of settings of one name, the first: the sections of the site are before those of roles.
  const fields = new Map(settings.toReversed().map((setting) => [setting.split('.')[1] ?? '', setting]))
  const nearest = nearestWord(selector, [...sections, ...fields.keys()])
  return `did you mean "${fields.get(nearest) ?? nearest}"?`
}

function formatSettingValue(value: unknown): string {
  if (value === undefined) return '(unset)'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
