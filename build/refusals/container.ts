/** Refusals of modules, of their lists, and of the dependencies of classes. */
import { define } from './definition.ts'

export const container = {
  'class-not-listed': define<{ name: string; list: string }>({
    summary: 'No module that the root reaches lists a decorated class',
    why: 'Only the classes that such modules list become part of the worker. The routes of an unlisted controller and the deliveries of an unlisted webhook would get 404. An unlisted provider or module would be dead code.',
    message: ({ name, list }) => `no module that the root reaches lists ${name} in its \`${list}\``,
    fix: ({ name, list }) => `add ${name} to the \`${list}\` of a module, or remove its decorator`,
  }),
  'listed-in-the-wrong-list': define<{ name: string; list: string; belongs: string; proper: string | undefined }>({
    summary: 'A module lists a class in a list for another kind of class',
    why: 'A module serves each class as its list says. The routes of a controller among the providers would not be served, and a webhook among the controllers would never get a delivery.',
    message: ({ name, list, belongs }) => `${name} stands in \`${list}\` and is not a ${belongs}`,
    fix: ({ name, proper }) =>
      proper ? `move ${name} to \`${proper}\`` : `give ${name} its decorator, or remove it from the list`,
  }),
  'module-cycle': define<{ chain: string }>({
    summary: 'Modules import each other in a circle, or one imports itself',
    why: 'Nothing would fail at run time, where modules do not exist. But modules in a circle cannot be read, moved or tested apart: they are one module in several files.',
    message: ({ chain }) => `modules import in a circle: ${chain}`,
    fix: () => 'remove one of these imports, and move what both modules need into a module that both import',
  }),
  'application-default-misplaced': define<{ name: string }>({
    summary: '`auth` stands on a module that is not the root module',
    why: 'The build reads the application default from the root module only, so this rule would have no effect. The rule of the root module would decide for its routes, or every signed-in user would be let in.',
    message: ({ name }) => `\`auth\` stands on ${name}, which is not the root module`,
    fix: () => 'declare `auth` on the controllers of this module, or on the root module for the whole application',
  }),
  'export-not-provided': define<{ name: string; module: string }>({
    summary: 'A module exports a class or a module that it neither provides nor imports',
    why: 'A module that imports this one would take the class for provided. If no module lists the class, the build has not checked the parameters of its constructor, and the container could pass `undefined` to it.',
    message: ({ name, module }) => `${module} exports ${name}, which it neither provides nor imports`,
    fix: ({ name, module }) => `add ${name} to the \`providers\` or \`imports\` of ${module}, or remove the export`,
  }),
  'dependency-not-a-class': define<{ name: string; parameter: string; type: string }>({
    summary: 'The type of a constructor parameter is missing, or names no class of the project',
    why: 'The container passes an instance of the class that types a parameter. TypeScript erases interfaces, aliases and primitives, so the container would pass `undefined`, and the class would fail at its first use.',
    message: ({ name, parameter, type }) =>
      type
        ? `${name} takes \`${parameter}: ${type}\`, whose type is not the name of a class of this project`
        : `${name} takes \`${parameter}\`, which has no type`,
    fix: () =>
      'type it with a class that a module provides, and import `Database`, `Log` and `Secrets` instead of injecting them',
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
    why: 'The classes of a module may depend on its own providers and on the exports of its imports. Another class would cross that boundary unseen. The build checks the constructor of a class only where a module lists it.',
    message: ({ name, needed, module }) => `${name} needs ${needed}, and ${module} does not provide it`,
    fix: ({ needed, module, role, recipe }) =>
      recipe
        ? `${needed} is abstract: add \`${recipe}\` to the \`providers\` of ${module}`
        : role
          ? `move the code that it needs into a provider, because a class with @${role} cannot be injected`
          : `add ${needed} to the \`providers\` of ${module}, or import the module that provides it`,
  }),
  'dependency-not-exported': define<{ name: string; needed: string; provider: string }>({
    summary: 'A class needs another that an imported module provides and does not export',
    why: '`exports` lists the classes that importing modules may depend on, and this class is not among them. The container would pass the instance all the same, because only the build keeps the private classes of a module private.',
    message: ({ name, needed, provider }) => `${name} needs ${needed}, which ${provider} provides and does not export`,
    fix: ({ needed, provider }) => `add ${needed} to the \`exports\` of ${provider}`,
  }),
  'dependency-cycle': define<{ chain: string }>({
    summary: 'Classes depend on each other in a circle through their constructors, or one depends on itself',
    why: 'The container constructs a dependency before the class that needs it, and a circle has no such order.',
    message: ({ chain }) => `dependencies go in a circle: ${chain}`,
    fix: () => 'move the code that both sides need into a provider of its own',
  }),
  'base-unreadable': define<{ name: string }>({
    summary: 'A class inherits its constructor from a base that the build cannot read',
    why: 'The build reads the parameters of a constructor from its source, and cannot read them behind a call, a constant or a file that is not TypeScript. The container would pass no arguments, and the parameters of the base would be `undefined`.',
    message: ({ name }) => `${name} inherits its constructor from a base that the build cannot read`,
    fix: ({ name }) => `give ${name} a constructor of its own, or extend an exported class of this project`,
  }),
  'provider-not-injectable': define<{ name: string }>({
    summary: 'A provider takes constructor parameters and has no @Injectable',
    why: 'The container would construct the class all the same. The decorator tells readers that the container constructs it, so that each parameter of its constructor must be a class that a module provides.',
    message: ({ name }) => `the provider ${name} takes constructor parameters and has no @Injectable`,
    fix: ({ name }) => `write \`@Injectable()\` above \`class ${name}\``,
  }),
  'recipe-malformed': define<{ reason: string; instead: string | undefined }>({
    summary: 'An object among the `providers` is not a recipe `{ provide, useClass }` with two classes',
    why: 'The build reads a recipe, which says which class answers for another one. The container runs no factory and knows no values or tokens, so the parameter would be `undefined`.',
    message: ({ reason }) => `a recipe ${reason}`,
    fix: ({ instead }) => instead ?? 'write `{ provide: Orders, useClass: PgOrders }` with two classes of the project',
  }),
  'recipe-not-assignable': define<{ provided: string; used: string }>({
    summary: 'The class that a recipe uses neither extends nor implements the one that it provides',
    why: 'A class that depends on the provided class would get an instance that may lack its methods. The build reads `extends` and `implements` only. Once the class has one of them, `tsc` checks that its members fit.',
    message: ({ provided, used }) => `${used} answers for ${provided}, and neither extends nor implements it`,
    fix: ({ provided, used }) => `write \`class ${used} implements ${provided}\`, or \`extends ${provided}\``,
  }),
  'recipe-twice': define<{ provided: string }>({
    summary: 'A class is provided by two recipes with different classes, or by a recipe and by itself',
    why: 'Each class has one answer in the whole application. With two, every module would get the same one of them, and the order of the modules would decide which.',
    message: ({ provided }) => `${provided} is provided twice, with two different classes`,
    fix: () => 'keep one of the two',
  }),
  'listed-twice': define<{ name: string; list: string }>({
    severity: 'warning',
    summary: 'A class stands twice in the same list of a module',
    why: 'The second entry has no effect, because a class has one instance for each isolate and its routes are served once. Perhaps another class was meant.',
    message: ({ name, list }) => `${name} stands twice in \`${list}\``,
    fix: () => 'remove one of the two entries',
  }),
  'provided-twice': define<{ name: string; module: string; other: string }>({
    severity: 'warning',
    summary: 'A class stands in the `providers` of two modules',
    why: 'A reader may expect one instance for each module, and there is one for each isolate, so both modules share its fields. If you mean that, let one module provide the class and the other import that module.',
    message: ({ name, module, other }) => `${module} provides ${name}, and so does ${other}: both share one instance`,
    fix: ({ name }) => `list ${name} in one module, and import that module in the other`,
  }),
}
