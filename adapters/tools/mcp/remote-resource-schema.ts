// Descriptions of resources, and contents, as a service may send them: everything else is a fault of the service.
import * as z from 'zod'
import {
  max_listed_uri,
  type RemoteResource,
  resourceUriPattern,
  templateUriPattern,
} from '../../../daemon/kernel/tools/remote-resource.ts'
import { nextCursor } from './remote-tool-schema.ts'

/**
 * Sizes, icons and annotations are left out: they change with the document, or name another place. No service needs them
 * to be read.
 */
const described = {
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
}

const uriOf = (pattern: RegExp, message: string) => z.string().max(max_listed_uri).regex(pattern, message)

const resource = z
  .object({ ...described, uri: uriOf(resourceUriPattern, 'must be a URI in ASCII, without blanks and braces') })
  .transform((listed) => toResource('resource', listed))

const template = z
  .object({
    ...described,
    uriTemplate: uriOf(templateUriPattern, 'must be a template of URIs with a variable, after its scheme'),
  })
  .transform(({ uriTemplate: uri, ...listed }) => toResource('template', { ...listed, uri }))

type WireResource = {
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
}

function toResource(
  kind: RemoteResource['kind'],
  { uri, name, title, description, mimeType }: WireResource,
): RemoteResource {
  return {
    ...{ kind, uri, name },
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { mime_type: mimeType }),
  }
}

export const resourcePage = z
  .object({ resources: z.array(resource), nextCursor })
  .transform(({ resources: items, nextCursor }) => ({ items, nextCursor }))

export const templatePage = z
  .object({ resourceTemplates: z.array(template), nextCursor })
  .transform(({ resourceTemplates: items, nextCursor }) => ({ items, nextCursor }))

const content = z
  .looseObject({
    uri: z.string(),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional(),
  })
  .refine(({ text, blob }) => text !== undefined || blob !== undefined, 'must have text or blob')

export const resourceContents = z.object({ contents: z.array(content) }).transform(({ contents }) => contents)
