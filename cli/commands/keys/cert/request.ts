// Asks an authority that lies elsewhere for the site's certificate: the private key stays here.
import { offline } from '../../../../daemon/offline/offline.ts'
import { writeOutputFile } from '../../../file/output-file.ts'
import { jsonOption, requireSite, siteOption } from '../../../options/site-options.ts'
import { command } from '../../../program/command.ts'
import { nameList, required, text } from '../../../program/params.ts'
import { printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'keys cert request',
  summary: 'ask an authority that lies elsewhere for a certificate',
  notes: [
    'Makes the key of the next certificate and a request (PKCS #10) for it. `platform keys cert issue REQUEST` signs it where',
    'the authority is, and `platform keys cert install` puts the answer in force. The certificate in force goes on until then.',
  ].join('\n'),
  options: {
    out: required(text('FILE', 'write the request there, where no file may be yet')),
    hosts: nameList(
      'A,B',
      'names and addresses of hosts to say besides the site, for other programs; peers ignore them',
    ),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert request --out alpha-request.pem',
  async run({ out, hosts, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { requestSiteCertificate } = await offline.certificate()
    const { text: asked, keep } = await requestSiteCertificate(folder, terminal.env, hosts)
    // An earlier request keeps its key unless this one is on its way.
    writeOutputFile(out, asked)
    keep()
    printResult(terminal, given.json, { file: out }, () => `${out} holds the request; its key stays in the site`)
    return 0
  },
})
