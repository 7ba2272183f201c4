// File names of messages: epoch and number, and no label or tenant that would need protection.

/** `stem` is the part that body and envelope share. */
export type MessageName = { readonly stem: string; readonly epoch: number; readonly seq: number }
export type MessagePart = 'env' | 'body'
export const messageParts: readonly MessagePart[] = ['body', 'env']

const namePattern = /^((\d{8})-(\d{16}))\.(env|body)\.json$/

/** Undefined for a name that no message has: also epoch or number 0, and numbers that a double cannot hold. */
export function parseMessageName(file: string): (MessageName & { readonly part: MessagePart }) | undefined {
  const found = namePattern.exec(file)
  if (!found) return undefined
  const [, stem = '', epochDigits, seqDigits, part] = found
  const epoch = Number(epochDigits)
  const seq = Number(seqDigits)
  if (epoch < 1 || seq < 1 || !Number.isSafeInteger(seq)) return undefined
  return { stem, epoch, seq, part: part === 'env' ? 'env' : 'body' }
}

export function messageName(epoch: number, seq: number): MessageName {
  return { stem: `${String(epoch).padStart(8, '0')}-${String(seq).padStart(16, '0')}`, epoch, seq }
}

export function partFileName(stem: string, part: MessagePart): string {
  return `${stem}.${part}.json`
}

/** `folder` is absolute and plain: nothing is left for `path.join` to do, which costs as much as looking at the file. */
export function partPath(folder: string, stem: string, part: MessagePart): string {
  return `${folder}/${partFileName(stem, part)}`
}

/** Names that carriers give to a file while they write it: it is given time, as an incomplete message is. */
export function isTemporaryName(file: string): boolean {
  return file.startsWith('.') || /\.(tmp|part)$/.test(file)
}
