// Activates the certificate that an authority has issued.
import { offline } from '../../../../daemon/offline/offline.ts'
import { readInputFile } from '../../../file/input-file.ts'
import { jsonOption, requireOwnSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { required, text } from '../../../program/params.ts'
import { formatFields, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys cert install',
  summary: 'Install the certificate that was requested',
  notes: [
    'It must be for the key of the last request and name this site. Certificates of authorities may follow it in',
    'the file.',
  ].join('\n'),
  positionals: { file: required(text('FILE', 'Certificate (PEM)')) },
  options: { ...siteOption, ...jsonOption },
  example: 'platform keys cert install alpha-cert.pem',
  async run({ file, ...params }, terminal) {
    const certificateText = readInputFile(file)
    const folder = requireOwnSite(params, terminal)
    const { installSiteCertificate } = await offline.certificate()
    const certificate = await installSiteCertificate(folder, terminal.env, certificateText)
    printResult(terminal, params.json, certificate, () => formatFields(terminal, certificate))
    return 0
  },
})
