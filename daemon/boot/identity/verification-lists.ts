// The lists by which tokens are verified: as the site role hands them out, and as a process on another machine keeps its copy.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { storeRevocations } from '../../../adapters/identity/offline/revocations.ts'
import { parseTokenKeys, writeTokenKeys } from '../../../adapters/keys/jose/token-keys.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import { type RoleClients, throwRefusal } from '../../kernel/operation/operation-contract.ts'
import type { Worker } from '../../kernel/role/role.ts'
import {
  getVerificationLists,
  max_list_bytes,
  type VerificationLists,
} from '../../shared/verification-lists/verification-lists.ts'
import { revocationsFile, type SiteFolder, tokenKeysFile } from '../storage/site-folder.ts'
import { withIdentityLock } from './token-key-list.ts'

const fetch_interval_ms = 10_000

/** The role that has the lists themselves. */
export const listKeeper = getVerificationLists.address.split('.')[0] ?? ''

/** Throws `Refusal('unavailable')` where a list is missing or too long. */
export async function readVerificationLists(folder: SiteFolder) {
  const files = [tokenKeysFile(folder), revocationsFile(folder)]
  const [token_keys = '', revocations = ''] = await Promise.all(files.map(readList))
  const lists: VerificationLists = { token_keys, revocations }
  return { digest: digestOf(lists), lists }
}

async function readList(file: string): Promise<string> {
  const text = await fs.promises.readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined || text.length > max_list_bytes)
    throw new Refusal('unavailable', 'a list by which tokens are verified cannot be read, or is too long')
  return text
}

function digestOf({ token_keys, revocations }: VerificationLists): string {
  return createHash('sha256').update(`${token_keys.length} ${token_keys}${revocations}`).digest('hex')
}

export type FetchedListsOptions = {
  readonly folder: SiteFolder
  /** Age at which the lists count as unknown. */
  readonly max_age_ms: number
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
}

/** The copy of a process without the site role: no token is accepted before the first fetch, nor `max_age_ms` after the last. */
export class FetchedLists {
  readonly #options: FetchedListsOptions
  #fetched_at = Number.NEGATIVE_INFINITY

  constructor(options: FetchedListsOptions) {
    this.#options = options
  }

  /** Throws `Refusal('unavailable')`: a token may have been revoked, or its key, since the lists were fetched. */
  requireFresh(): void {
    const { monotonic, max_age_ms } = this.#options
    if (monotonic() - this.#fetched_at <= max_age_ms) return
    throw new Refusal('unavailable', 'the lists by which tokens are verified could not be fetched from the role site')
  }

  /** Of every role of the process, since each may be the one that runs; one fetch serves them all. */
  get worker(): Worker {
    const run: Worker['run'] = async ({ roles }) => {
      if (this.#options.monotonic() - this.#fetched_at >= fetch_interval_ms / 2) await this.fetch(roles)
    }
    return { name: 'verification-lists', when: { every_ms: fetch_interval_ms }, run }
  }

  /** Throws what the request throws; the lists then stay as they are. */
  async fetch(roles: RoleClients): Promise<void> {
    const { folder, monotonic } = this.#options
    const began = monotonic()
    const own = await readVerificationLists(folder).catch(() => undefined)
    const input = own === undefined ? {} : { known: own.digest }
    const { lists } = await throwRefusal(roles.request(getVerificationLists, input))
    if (lists) await this.#store(lists)
    this.#fetched_at = began
  }

  /** Both texts are checked before either is written. */
  async #store({ token_keys, revocations }: VerificationLists): Promise<void> {
    const { folder } = this.#options
    const keys = parseTokenKeys(token_keys)
    await withIdentityLock(folder, async () => {
      storeRevocations(revocationsFile(folder), revocations)
      writeTokenKeys(tokenKeysFile(folder), keys)
    })
  }
}
