// Changes settings of a pinned peer in one step, while messages arrive.
import { offline } from '../../../daemon/offline/offline.ts'
import { formatPeer, noteNamesakes } from '../../format/peer.ts'
import { peerSettingOptions, readPeerSettings } from '../../options/peer-options.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choiceList, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

/** Option words to the settings that have a default. */
const resettable = {
  categories: 'categories',
  'releasable-names': 'releasable_names',
  'label-map': 'label_map',
  threshold: 'threshold',
  'root-threshold': 'root_threshold',
  'fresh-days': 'not_after_days',
  'inventory-interval': 'inventory_interval_s',
  'keep-days': 'keep_days',
} as const
type ResettableWord = keyof typeof resettable
const resettableWords = Object.keys(resettable) as ResettableWord[]

export const definition = command({
  words: 'peers set',
  summary: 'Change settings of a pinned peer',
  notes: [
    'Options that are absent stay as they are; --reset takes settings back to their defaults. The peer stays',
    'pinned: a message that arrives meanwhile is judged by the old or the new settings. A running site follows at',
    'once. Refused messages stay in quarantine.',
  ].join('\n'),
  positionals: { name: required(text('NAME', 'Site name of the peer')) },
  options: {
    ...peerSettingOptions,
    reset: choiceList('SETTING,...', 'Settings to take back to their defaults', resettableWords),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform peers set bravo --ceiling SECRET',
  async run({ name, reset, ...params }, terminal) {
    const settings = readPeerSettings(params)
    const resetSettings = reset.map((word) => resettable[word])
    const twice = reset.find((word) => settings[resettable[word]] !== undefined)
    if (twice !== undefined) throw new CommandFailure(2, `--${twice} is given, and --reset names it`)
    if (resetSettings.length === 0 && Object.values(settings).every((value) => value === undefined))
      throw new CommandFailure(2, 'no setting is given', 'name at least one, such as --ceiling LEVEL')
    const folder = requireOwnSite(params, terminal)
    const { changePeerSettings } = await offline.peerSettings()
    const { peer, before, after } = await changePeerSettings(folder, terminal.env, name, {
      settings,
      reset: resetSettings,
      now: Date.now(),
    })
    printResult(terminal, params.json, peer, () => formatPeer(terminal, peer))
    if (Object.keys({ ...before, ...after }).length === 0) terminal.note('the settings are as they were')
    const { findNamesakes } = await offline.namesakes()
    await noteNamesakes(terminal, () => findNamesakes(folder, terminal.env, [peer]))
    return 0
  },
})
