/** Refusals of modules, of what they list, and of what their classes need. */
import { define } from './definition.ts'

export const container = {
  'class-not-listed': define<{ name: string; list: string }>({
    summary: 'No module that the root reaches lists a decorated class',
    why: 'Only what such a module lists becomes part of the worker. The routes of an unlisted controller and the deliveries of an unlisted webhook would get 404; a provider or a module would be dead code.',
    message: ({ name, list }) => `no module that the root reaches lists ${name} in its \`${list}\``,
    fix: ({ name, list }) => `add ${name} to the \`${list}\` of a module, or remove its decorator`,
  }),
  'listed-in-the-wrong-list': define<{ name: string; list: string; belongs: string; proper: string | undefined }>({
    summary: 'A class stands in a list of a module that is meant for another kind of class',
    why: 'What stands in a list is served as that list says. The routes of a controller among the providers would not be mounted, and a webhook among the controllers would never get a delivery.',
    message: ({ name, list, belongs }) => `${name} stands in \`${list}\` and is no ${belongs}`,
    fix: ({ name, proper }) =>
      proper ? `move ${name} to \`${proper}\`` : `give ${name} its decorator, or remove it from the list`,
  }),
  'module-cycle': define<{ chain: string }>({
    summary: 'Modules import each other in a circle, or one imports itself',
    why: 'Nothing would fail at run time, where there are no modules. But those of a circle cannot be read, moved or tested apart: they are one module, written as several.',
    message: ({ chain }) => `modules import in a circle: ${chain}`,
    fix: () => 'remove one of these imports: what both sides need goes into a module that both import',
  }),
  'application-default-misplaced': define<{ name: string }>({
    summary: '`auth` stands on a module that is not the root module',
    why: 'The application default is read from the root module alone, so this rule would have no effect. Its routes would be gated by the rule of the root, or require any signed-in user, whatever is written here.',
    message: ({ name }) => `\`auth\` stands on ${name}, which is not the root module`,
    fix: () =>
      'the application default is declared once, on the root module; elsewhere declare `auth` on the controller',
  }),
  'export-not-provided': define<{ name: string; module: string }>({
    summary: 'A module exports a class or a module that it neither provides nor imports',
    why: 'A module that imports this one would take the class for provided. If no module lists it, the container would build it although nobody has judged what its constructor takes, which could then be `undefined`.',
    message: ({ name, module }) => `${module} exports ${name}, which it neither provides nor imports`,
    fix: ({ name, module }) => `add ${name} to the \`providers\` or \`imports\` of ${module}, or remove the export`,
  }),
  'dependency-not-a-class': define<{ name: string; parameter: string; type: string }>({
    summary: 'The type of a constructor parameter is missing, or names no class of the project',
    why: 'The class that types a parameter is what the container hands over. Interfaces, aliases and primitives are erased and name nothing to construct, so the parameter would be `undefined` and fail at its first use.',
    message: ({ name, parameter, type }) =>
      type
        ? `${name} needs \`${parameter}: ${type}\`, which is not the plain name of a class of this project`
        : `${name} needs \`${parameter}\`, which has no type`,
    fix: () => 'name a class that a module provides; `Database`, `Log` and `Secrets` are imported, never injected',
  }),
  'dependency-not-provided': define<{
    name: string
    needed: string
    module: string
    role: string | undefined
    /** How an abstract class is provided. */
    recipe?: string
  }>({
    summary: 'A class needs another that its module neither provides nor gets from its imports',
    why: 'The classes of a module may depend on its own providers and on what its imports export. Another class would pass that boundary unseen, and one that no module lists would be built although nobody has judged what its constructor takes.',
    message: ({ name, needed, module }) => `${name} needs ${needed}, and ${module} has no provider of it`,
    fix: ({ needed, module, role, recipe }) =>
      recipe
        ? `${needed} is abstract: add \`${recipe}\` to the \`providers\` of ${module}`
        : role
          ? `a class with @${role} cannot be injected: move what is needed of it into a provider`
          : `add ${needed} to the \`providers\` of ${module}, or import the module that provides it`,
  }),
  'dependency-not-exported': define<{ name: string; needed: string; provider: string }>({
    summary: 'A class needs another that an imported module provides and does not export',
    why: '`exports` states what importing modules may depend on, and leaves this class out. The container has one instance of each class and would hand it over all the same: only the build keeps what a module has for itself.',
    message: ({ name, needed, provider }) => `${name} needs ${needed}, which ${provider} provides and does not export`,
    fix: ({ needed, provider }) => `add ${needed} to the \`exports\` of ${provider}`,
  }),
  'dependency-cycle': define<{ chain: string }>({
    summary: 'Classes need each other in a circle through their constructors, or one needs itself',
    why: 'Each would have to be constructed before the other. There is no such order, so the container would call one constructor for the other until the stack is full.',
    message: ({ chain }) => `dependencies go in a circle: ${chain}`,
    fix: () => 'move what both sides need into a provider of its own',
  }),
  'base-unreadable': define<{ name: string }>({
    summary: 'A class inherits its constructor from a base that the build cannot read',
    why: 'What a constructor takes is what the container hands over, and it cannot be seen behind a call, a constant or a file that is not TypeScript. The class would be built with no arguments, and what its base expects would be `undefined`.',
    message: ({ name }) =>
      `what the constructor of ${name} takes is not known: it is inherited from something that the build cannot read`,
    fix: ({ name }) => `give ${name} a constructor of its own, or extend a class by its exported name`,
  }),
  'provider-not-injectable': define<{ name: string }>({
    summary: 'A provider takes constructor parameters and has no @Injectable',
    why: 'The container would fill its constructor all the same. The decorator tells whoever edits the class that the container builds it, so that what its constructor takes must be classes that a module provides.',
    message: ({ name }) => `${name} takes constructor parameters and lacks @Injectable`,
    fix: ({ name }) => `write \`@Injectable()\` above \`class ${name}\``,
  }),
  'recipe-malformed': define<{ reason: string; instead: string | undefined }>({
    summary: 'An object among the `providers` is not `{ provide, useClass }` with two classes',
    why: 'A recipe is read at build and says which class answers for another one. A value, a factory or a name to inject by would need a container that runs them, and there is none: what was to be injected would be `undefined`.',
    message: ({ reason }) => `a recipe ${reason}`,
    fix: ({ instead }) => instead ?? 'write `{ provide: Orders, useClass: PgOrders }`, with two classes of the project',
  }),
  'recipe-not-assignable': define<{ provided: string; used: string }>({
    summary: 'The class that a recipe uses neither extends nor implements the one that it provides',
    why: 'Whoever depends on the provided class would get an instance that may lack its methods. The build reads the words of the class: that its members fit is for `tsc` to say, which it does once the class says what it implements.',
    message: ({ provided, used }) => `${used} is to answer for ${provided}, and neither extends nor implements it`,
    fix: ({ provided, used }) => `write \`class ${used} implements ${provided}\`, or \`extends ${provided}\``,
  }),
  'recipe-twice': define<{ provided: string }>({
    summary: 'A class is provided by two recipes with different classes, or by a recipe and by itself',
    why: 'There is one instance of a class for each isolate, whichever module asks. Of two answers one would be given everywhere, and which one would depend on the order of modules.',
    message: ({ provided }) => `${provided} has two answers: it is provided in another way already`,
    fix: () => 'keep one of them',
  }),
  'listed-twice': define<{ name: string; list: string }>({
    severity: 'warning',
    summary: 'A class stands twice in the same list of a module',
    why: 'The second entry has no effect: a class has one instance for each isolate, and its routes are mounted once. Mostly another class was meant.',
    message: ({ name, list }) => `${name} stands in these \`${list}\` twice`,
    fix: () => 'remove one of them',
  }),
  'provided-twice': define<{ name: string; module: string; other: string }>({
    severity: 'warning',
    summary: 'A class stands in the `providers` of two modules',
    why: 'It reads as one instance for each module, and there is one for each isolate, so what it keeps is shared. Where that is meant, one module provides the class and the other imports that module.',
    message: ({ name, module, other }) =>
      `${module} provides ${name}, and so does ${other}: it is one instance all the same`,
    fix: ({ name }) => `leave ${name} to one module, which the other imports`,
  }),
}
