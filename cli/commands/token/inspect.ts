// Shows what a token says and whether it counts here; one of an identity provider by its keys of this moment.
import { offline } from '../../../daemon/offline/offline.ts'
import { readToken } from '../../options/read-token.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { colourText, formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'token inspect',
  summary: 'what a token says, and whether it counts; exit code 5 when it does not',
  positionals: { token: text('TOKEN', 'better on stdin or in PLATFORM_TOKEN, since others can see argument lists') },
  options: { ...siteOption, ...jsonOption },
  example: 'platform token inspect < token.txt',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const token = await readToken(given.token, terminal)
    const { inspectToken } = await offline.tokens()
    const seen = await inspectToken(folder, terminal.env, token, Date.now())
    if (!seen) throw new CommandFailure(2, 'this is no token')
    const { state, reason, claims } = seen
    const isValid = state === 'valid'
    printResult(terminal, given.json, seen, () =>
      formatFields(terminal, {
        state: colourText(
          terminal,
          isValid ? 'green' : 'red',
          reason && reason !== state ? `${state} (${reason})` : state,
        ),
        ...claims,
        iat: formatClaimTime(claims.iat),
        exp: formatClaimTime(claims.exp),
      }),
    )
    return isValid ? 0 : 5
  },
})

function formatClaimTime(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || Math.abs(seconds) > 8.64e12) return undefined
  return new Date(seconds * 1000).toISOString()
}
