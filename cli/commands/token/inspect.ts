// Shows the claims of a token and whether it is valid here; a token of an identity provider is checked with its current keys.
import { offline } from '../../../daemon/offline/offline.ts'
import { readToken } from '../../options/read-token.ts'
import { jsonOption, requireSite, siteOption } from '../../options/site-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { colourText, formatFields, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'token inspect',
  summary: 'Inspect a token and check whether it is valid',
  notes: 'Exit code 5: the token is not valid.',
  positionals: { token: text('TOKEN', 'Token. Prefer stdin or PLATFORM_TOKEN: arguments are visible to other users') },
  options: { ...siteOption, ...jsonOption },
  example: 'platform token inspect < token.txt',
  async run(given, terminal) {
    const folder = requireSite(given, terminal)
    const token = await readToken(given.token, terminal)
    const { inspectToken } = await offline.tokens()
    const seen = await inspectToken(folder, terminal.env, token, Date.now())
    if (!seen) throw new CommandFailure(2, 'the input is not a token')
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
