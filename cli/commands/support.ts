// Writes a support bundle: findings, settings, keys by name, files, health, metrics and logs of the site, without secrets.
import { isRefusal } from '../../daemon/kernel/error/errors.ts'
import { offline } from '../../daemon/offline/offline.ts'
import type { ServiceClient } from '../client/client.ts'
import { writeOutputFile } from '../file/output-file.ts'
import { connectService } from '../options/service-options.ts'
import { jsonOption, requireWholeSite, siteOption } from '../options/site-options.ts'
import { command } from '../program/command.ts'
import { required, rest, text } from '../program/params.ts'
import { formatFields, printResult } from '../terminal/output.ts'

export const definition = command({
  words: 'support',
  summary: 'Write a support bundle: the state of the site without its secrets',
  notes: [
    'One JSON file, which you can read before it leaves: findings of the doctor, settings, names and dates of keys,',
    'peers, names and sizes of files, health and metrics of running roles, and the last 5,000 lines of each log.',
    'Private keys, passphrases, tokens and documents are not in it; names of sites, people and files are.',
  ].join('\n'),
  options: {
    out: required(text('FILE', 'New file to write')),
    log: rest('FILE', 'Log files to include (default: none)'),
    ...siteOption,
    ...jsonOption,
  },
  example: 'platform support --out support.json --log serve.log',
  async run(params, terminal) {
    const folder = await requireWholeSite(params, terminal, params.log)
    const { collectSupport } = await offline.support()
    const progress = (step: string) => terminal.progress(step)
    const request = { folder, env: terminal.env, now: Date.now(), logs: params.log, progress }
    const collected = await collectSupport(request)
    const { listProfileRoles } = await offline.profile()
    const api = await connectService({ ...params, ...local }, terminal)
    const roles: Record<string, unknown> = {}
    for (const { name } of listProfileRoles(folder, terminal.env)) {
      progress(`collecting ${name}`)
      roles[name] = await collectRole(api, name)
    }
    progress('')
    const content = `${JSON.stringify({ ...collected, roles }, undefined, 2)}\n`
    writeOutputFile(params.out, content)
    const summary = {
      file: params.out,
      bytes: Buffer.byteLength(content),
      sections: [...Object.keys(collected), 'roles'],
    }
    printResult(terminal, params.json, summary, () =>
      formatFields(terminal, { file: params.out, bytes: summary.bytes }),
    )
    return 0
  },
})

/** The sockets of this site alone, with a token that the command mints. */
const local = { url: undefined, ca: undefined, token: undefined, tokenFile: undefined }

async function collectRole(api: ServiceClient, role: string): Promise<unknown> {
  try {
    return {
      health: await api.call(`${role}.service.health`, {}),
      metrics: (await api.text(`${role}.service.metrics`, {}, 'text/plain')).split('\n'),
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { failed: error.message }
  }
}
