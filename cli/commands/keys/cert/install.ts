// Puts in force the certificate that an authority has answered with.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { readInputFile } from '../../../input-file.ts'
import { fields, show } from '../../../output.ts'
import { needed, text } from '../../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys cert install',
  summary: 'put in force the certificate that was asked for',
  notes:
    'It must be for the key of the last request and name this site. Certificates of authorities may follow it in the file.',
  takes: { file: needed(text('FILE', 'the certificate (PEM)')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform keys cert install alpha-cert.pem',
  async run({ file, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { install } = await offline.certificate()
    const shown = await install(folder, terminal.env, readInputFile(file))
    show(terminal, given.json, shown, () => fields(terminal, shown))
    return 0
  },
})
