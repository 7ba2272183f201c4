// Shows what a token says and whether it counts here; one of an identity provider by its keys of this moment.
import { offline } from '../../../daemon/boot/offline.ts'
import { command, Failure } from '../../command.ts'
import { fields, paint, show } from '../../output.ts'
import { text } from '../../params.ts'
import { jsonOption, requireSite, siteOption } from '../../site.ts'
import { givenToken } from '../../token-text.ts'

export const definition = command({
  words: 'token inspect',
  summary: 'what a token says, and whether it counts; exit code 5 when it does not',
  takes: { token: text('TOKEN', 'better on stdin or in PLATFORM_TOKEN, since others can see argument lists') },
  options: { ...siteOption, ...jsonOption },
  example: 'platform token inspect < token.txt',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const token = await givenToken(given.token, terminal)
    const { inspect } = await offline.tokens()
    const seen = await inspect(folder, terminal.env, token, Date.now())
    if (!seen) throw new Failure(2, 'this is no token')
    const { state, reason, claims } = seen
    const isValid = state === 'valid'
    show(terminal, given.json, seen, () =>
      fields(terminal, {
        state: paint(terminal, isValid ? 'green' : 'red', reason && reason !== state ? `${state} (${reason})` : state),
        ...claims,
        iat: timeOf(claims.iat),
        exp: timeOf(claims.exp),
      }),
    )
    return isValid ? 0 : 5
  },
})

function timeOf(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || Math.abs(seconds) > 8.64e12) return undefined
  return new Date(seconds * 1000).toISOString()
}
