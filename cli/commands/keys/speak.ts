// Prints the fingerprint of all keys of the site, for its operator to read aloud to the operator of another site.
import { offline } from '../../../daemon/offline/offline.ts'
import { dirOption, resolveKeyLocation } from '../../options/key-location.ts'
import { jsonOption, siteOption } from '../../options/site-options.ts'
import { command } from '../../program/command.ts'
import { formatFields, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'keys speak',
  summary: 'Show the fingerprint of all keys, to be read aloud at an enrolment',
  notes: [
    'Read the groups to the operator of the other site, who types them at `platform peers add`. They cover the name',
    'and tenant of the site and every key in the file that the peer pins. With --dir: the keys of a person, for',
    '`platform people add`. The last digit of each group is a check digit.',
  ].join('\n'),
  options: { ...dirOption, ...siteOption, ...jsonOption },
  example: 'platform keys speak',
  async run(params, terminal) {
    const { speakSiteKeys, speakFolderKeys } = await offline.spokenKeys()
    const location = resolveKeyLocation(params, terminal)
    const spoken = 'dir' in location ? speakFolderKeys(location.dir) : await speakSiteKeys(location.site, terminal.env)
    const { groups, keys, site, tenant_id, key_set } = spoken
    const covers = { site, tenant_id, key_set, keys: keys.length }
    printResult(terminal, params.json, { fingerprint: groups.join(' '), ...covers }, () =>
      [groups.slice(0, 4).join('  '), groups.slice(4).join('  '), '', formatFields(terminal, covers)].join(line_break),
    )
    return 0
  },
})
