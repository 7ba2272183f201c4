// Signs assertions, by which a client proves to a token endpoint who it is (RFC 7523).
import { importPKCS8, type JWTHeaderParameters, SignJWT } from 'jose'

/** Times are in seconds since 1970. */
export type AssertionClaims = {
  readonly iss: string
  readonly aud: string
  readonly iat: number
  readonly exp: number
  readonly [name: string]: string | number
}

export type AssertionHeader = { readonly alg: 'RS256' | 'PS256'; readonly [name: string]: string }

/** `private_key`: PKCS #8 as PEM. Throws for one that is none. */
export async function signAssertion(
  claims: AssertionClaims,
  header: AssertionHeader,
  private_key: string,
): Promise<string> {
  const key = await importPKCS8(private_key, header.alg)
  const all: JWTHeaderParameters = { typ: 'JWT', ...header }
  return await new SignJWT({ ...claims }).setProtectedHeader(all).sign(key)
}
