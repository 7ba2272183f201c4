// Describes broker errors for operators, without passwords and without addresses that contain one.

const replyCodeTexts: Readonly<Record<number, string>> = {
  311: 'the broker does not accept a message of this size',
  320: 'an operator of the broker closed the connection',
  403: 'the broker refused access to this user',
  404: 'it does not exist at the broker',
  405: 'another connection has exclusive access to it',
  406: 'the broker has it in another form, or gave up on this site',
  530: 'the broker refused this user access to the virtual host',
  541: 'the broker failed',
}

/** Amqplib gives the broker's own code and words along; what broke the socket says so itself. */
export function describeBrokerError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, message } = error as Error & { code?: unknown }
  const meaning = typeof code === 'number' ? replyCodeTexts[code] : undefined
  return meaning === undefined ? message || String(code) : `${meaning}: ${message}`
}

/** Rejects with what was waited for when it takes longer; what comes later is dropped. */
export async function withTimeout<T>(limit_ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the broker did not ${what} within ${limit_ms} ms`)), limit_ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => undefined)
  }
}
