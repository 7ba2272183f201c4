// Shows the authority's certificate, and writes the file from which peers pin it.
import { offline } from '../../../../daemon/offline/offline.ts'
import { readInputFile } from '../../../file/input-file.ts'
import { writeOutputFile } from '../../../file/output-file.ts'
import { formatAuthorities } from '../../../format/certificate-authority.ts'
import { dirOption, requireKeyLocation } from '../../../options/key-location.ts'
import { jsonOption, siteOption } from '../../../options/site-options.ts'
import { CommandFailure, command } from '../../../program/command.ts'
import { text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys ca show',
  summary: 'Show the authority’s certificate, which peers pin',
  notes: [
    'With --out, writes a file (PEM) that a peer names as mtls.peers.NAME.ca_file. It includes replaced',
    'authorities whose certificates are still valid. Send the fingerprint by another route than the file; the',
    'peer compares it with the one that this command shows for FILE.',
  ].join('\n'),
  positionals: { file: text('FILE', 'Certificate file of another site (default: the site’s own authority)') },
  options: {
    out: text('FILE', 'File to create for the certificates (default: none)'),
    ...dirOption,
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys ca show --out alpha-ca.pem',
  async run({ file, out, ...params }, terminal) {
    if (file !== undefined && out !== undefined)
      throw new CommandFailure(2, 'FILE and --out cannot be combined: pass one of them')
    const { parseAuthorityCertificates, readSiteAuthority, listPinnableAuthorities } = await offline.authority()
    const certificates = file === undefined ? listOwnAuthorities() : parseAuthorityCertificates(readInputFile(file))
    if (out !== undefined) writeOutputFile(out, certificates.map(String).join(''))
    const { shown: rows, human } = formatAuthorities(terminal, certificates)
    printResult(terminal, params.json, { items: rows }, human)
    return 0

    function listOwnAuthorities() {
      const location = requireKeyLocation(params, terminal)
      readSiteAuthority(location)
      return listPinnableAuthorities(location, Date.now())
    }
  },
})
