// A site that lies with its own keys: the real code makes its messages, and on their way out each is changed and signed
// anew, with numbers, chain and inventories that fit the lie.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { no_predecessor } from '../../../adapters/transport/filedrop/checks/sequence-check.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import type { Signatures } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { InventoryData } from '../../../daemon/kernel/messaging/inventory.ts'
import type { MessageBody, Statement } from '../../../daemon/kernel/messaging/statement.ts'
import type { TestSite } from '../../support/site/test-site.ts'

export type OutgoingMessage = { statement: Statement; body: MessageBody }

/** Changes a message before it is signed; `sign` signs with the liar's message key. */
export type MessageLie = (message: OutgoingMessage, sign: Signatures['sign']) => Promise<void> | void

export type TamperingCarrier = {
  /** Kinds of the messages that wait to leave the liar, in the order of their numbers. */
  listWaiting(): string[]
  /** Takes them to the honest site. */
  carry(lie?: MessageLie): Promise<void>
  /** Takes everything from the honest site to the liar as it is. */
  carryBack(): void
  /** Reasons in the honest site's quarantine, with the code of a refused command. */
  listReasons(): string[]
}

export function createTamperingCarrier(liar: TestSite, honest: TestSite): TamperingCarrier {
  const { ready } = foldersOf(liar.folder.filedrop, honest.name)
  const { fresh, quarantine } = foldersOf(honest.folder.filedrop, liar.name)
  const { sign } = joseSignatures({ dir: liar.folder.keys, now: () => liar.clock.now() })
  const listStems = () => listNames(ready, '.env.json')
  const read = (stem: string): OutgoingMessage => {
    const { payload } = JSON.parse(fs.readFileSync(join(ready, `${stem}.env.json`), 'utf8'))
    const body = JSON.parse(fs.readFileSync(join(ready, `${stem}.body.json`), 'utf8'))
    return { statement: JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')), body }
  }
  const digests = new Map<string, string>()
  return {
    listWaiting: () => listStems().map((stem) => read(stem).statement.kind),
    async carry(lie) {
      for (const stem of listStems()) {
        const message = read(stem)
        const original = sha384(canonicalJson(message.statement))
        fitChain(message, digests)
        await lie?.(message, sign)
        const { envelope, body, digest } = await signMessage(message, sign)
        digests.set(original, digest)
        place(join(fresh, `${stem}.body.json`), body)
        place(join(fresh, `${stem}.env.json`), envelope)
        for (const part of ['env', 'body']) fs.rmSync(join(ready, `${stem}.${part}.json`))
      }
    },
    carryBack() {
      const from = foldersOf(honest.folder.filedrop, liar.name).ready
      const to = foldersOf(liar.folder.filedrop, honest.name).fresh
      for (const name of listNames(from, '')) {
        place(join(to, name), fs.readFileSync(join(from, name), 'utf8'))
        fs.rmSync(join(from, name))
      }
    },
    listReasons: () =>
      listNames(quarantine, '.reason.json').map((stem) => {
        const { reason, code } = JSON.parse(fs.readFileSync(join(quarantine, `${stem}.reason.json`), 'utf8'))
        return code === undefined ? reason : `${reason} ${code}`
      }),
  }
}

/** Names of this ending, without it, rising. */
function listNames(folder: string, ending: string): string[] {
  const names = fs.readdirSync(folder).filter((name) => !name.startsWith('.') && name.endsWith(ending))
  return names.map((name) => name.slice(0, name.length - ending.length)).sort()
}

/** What other messages are known by changes with them. */
function fitChain({ statement, body }: OutgoingMessage, digests: ReadonlyMap<string, string>): void {
  const digestNow = (digest: string) => digests.get(digest) ?? (digest === no_predecessor ? no_predecessor : digest)
  statement.prev = digestNow(statement.prev)
  if (statement.kind !== 'inventory') return
  const inventory = body.data as InventoryData
  body.data = {
    ...inventory,
    rolling: digestNow(inventory.rolling),
    digests: inventory.digests.map(digestNow),
  }
}

async function signMessage({ statement, body }: OutgoingMessage, sign: Signatures['sign']) {
  const text = canonicalJson(body)
  const described = { ...statement.body, sha384: sha384(text), length: Buffer.byteLength(text) }
  const payload = canonicalJson({ ...statement, body: described })
  const envelope = await sign('statement', Buffer.from(payload))
  return { envelope: `${JSON.stringify(envelope)}\n`, body: text, digest: sha384(payload) }
}

/** Whole under its name at once, as a good carrier does it: the site watches the folder. */
function place(path: string, text: string): void {
  const part = path.replace(/([^/]+)$/, '.$1')
  fs.writeFileSync(part, text)
  fs.renameSync(part, path)
}
