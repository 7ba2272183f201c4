// Requests the site's certificate from an authority that is elsewhere; the private key stays here.
import { offline } from '../../../../daemon/offline/offline.ts'
import { writeOutputFile } from '../../../file/output-file.ts'
import { jsonOption, requireSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { nameList, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys cert request',
  summary: 'Request a certificate from an authority that is elsewhere',
  notes: [
    'Makes the key of the next certificate and a request (PKCS #10) for it. `platform keys cert issue REQUEST`',
    'signs it at the authority, and `platform keys cert install` activates the result. Until then the current',
    'certificate stays in use.',
  ].join('\n'),
  options: {
    out: required(text('FILE', 'File to create for the request')),
    hosts: nameList('A,B', 'Host names and addresses to include, for other programs; peers ignore them'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert request --out alpha-request.pem',
  async run({ out, hosts, ...params }, terminal) {
    const folder = requireSite(params, terminal)
    const { requestSiteCertificate } = await offline.certificate()
    const { text: requestText, keep: keepKey } = await requestSiteCertificate(folder, terminal.env, hosts)
    // The key of an earlier request is replaced only after this request is written.
    writeOutputFile(out, requestText)
    keepKey()
    printResult(terminal, params.json, { file: out }, () => `${out} holds the request; its key stays in the site`)
    return 0
  },
})
