// Shows the authority that peers pin, and writes the file that they pin it from.
import { offline } from '../../../../daemon/boot/offline.ts'
import { authorityText } from '../../../certificate-text.ts'
import { command, Failure } from '../../../command.ts'
import { readInputFile } from '../../../input-file.ts'
import { dirOption, foundKeys } from '../../../key-place.ts'
import { show } from '../../../output.ts'
import { writeOutputFile } from '../../../output-file.ts'
import { text } from '../../../params.ts'
import { jsonOption, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys ca show',
  summary: 'the authority’s certificate, which peers pin',
  notes: [
    'With --out a file (PEM) that a peer names as mtls.peers.NAME.ca_file, with the authorities that were replaced and may still',
    'be met. Tell the fingerprint by another way than the file; the peer compares it with what it sees of that FILE.',
  ].join('\n'),
  takes: { file: text('FILE', 'what another site gave; else the site’s own') },
  options: {
    out: text('FILE', 'write it there, where no file may be yet'),
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys ca show --out alpha-ca.pem',
  async run({ file, out, ...given }, terminal) {
    if (file !== undefined && out !== undefined) throw new Failure(2, 'give FILE or --out, not both')
    const { authoritiesIn, authorityOf, pinnableOf } = await offline.authority()
    const found = file === undefined ? ownOf() : authoritiesIn(readInputFile(file))
    if (out !== undefined) writeOutputFile(out, found.map(String).join(''))
    const { shown, human } = authorityText(terminal, found)
    show(terminal, given.json, { items: shown }, human)
    return 0

    function ownOf() {
      const place = foundKeys(given, terminal)
      authorityOf(place)
      return pinnableOf(place, Date.now())
    }
  },
})
