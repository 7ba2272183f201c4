// Counts the messages in the incoming folders in steps, so that a hundred thousand of them block nothing else.
import * as fsp from 'node:fs/promises'
import type { ChannelFolders } from '../../files/channel-folders.ts'
import { type MessageName, parseMessageName } from '../../files/message-name.ts'

/** `first`: the one with the lowest number. Folders that are gone hold nothing. */
export type IncomingCount = { readonly messages: number; readonly first?: MessageName }

/** Names read before others get their turn. */
const names_per_turn = 1_024

export async function countIncoming({ fresh, work }: Pick<ChannelFolders, 'fresh' | 'work'>): Promise<IncomingCount> {
  const stems = new Set<string>()
  let first: MessageName | undefined
  for (const folder of [fresh, work]) {
    for await (const file of readNames(folder)) {
      const name = parseMessageName(file)
      if (!name) continue
      stems.add(name.stem)
      if (!first || name.stem < first.stem) first = name
    }
  }
  return { messages: stems.size, ...(first ? { first } : {}) }
}

async function* readNames(folder: string): AsyncGenerator<string> {
  const dir = await fsp.opendir(folder, { bufferSize: names_per_turn }).catch(ignoreMissing)
  if (dir) for await (const { name } of dir) yield name
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}
