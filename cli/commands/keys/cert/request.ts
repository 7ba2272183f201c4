// Asks an authority that lies elsewhere for the site's certificate: the private key stays here.
import { offline } from '../../../../daemon/boot/offline.ts'
import { command } from '../../../command.ts'
import { show } from '../../../output.ts'
import { writeOutputFile } from '../../../output-file.ts'
import { names, needed, text } from '../../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../../site.ts'

export const definition = command({
  words: 'keys cert request',
  summary: 'ask an authority that lies elsewhere for a certificate',
  notes: [
    'Makes the key of the next certificate and a request (PKCS #10) for it. `platform keys cert issue REQUEST` signs it where',
    'the authority is, and `platform keys cert install` puts the answer in force. The certificate in force goes on until then.',
  ].join('\n'),
  options: {
    out: needed(text('FILE', 'write the request there, where no file may be yet')),
    hosts: names('A,B', 'names and addresses of hosts to say besides the site, for other programs; peers ignore them'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform keys cert request --out alpha-request.pem',
  async run({ out, hosts, ...given }, terminal) {
    const folder = requireSite(given, terminal)
    const { request } = await offline.certificate()
    const { text: asked, keep } = await request(folder, terminal.env, hosts)
    // An earlier request keeps its key unless this one is on its way.
    writeOutputFile(out, asked)
    keep()
    show(terminal, given.json, { file: out }, () => `${out} holds the request; its key stays in the site`)
    return 0
  },
})
