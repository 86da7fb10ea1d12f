/**
 * The few DOM types of these tests. The compiler's DOM library would reach every package, and let
 * server code use browser features.
 */
export interface PageGlobals {
  readonly navigator: { readonly clipboard: { readText(): Promise<string> } };
  readonly document: {
    readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
    querySelectorAll(selector: string): Iterable<PageElement>;
    createRange(): PageRange;
    addEventListener(type: 'securitypolicyviolation', listener: (event: Violation) => void): void;
  };
  getComputedStyle(element: PageElement): {
    readonly outlineStyle: string;
    readonly outlineWidth: string;
    readonly boxShadow: string;
  };
}

export interface PageElement {
  readonly tagName: string;
  readonly childNodes: Iterable<PageNode>;
  /** Forms: set if the browser's own checks are off. */
  noValidate?: boolean;
  /** Fields. */
  type?: string;
}

export interface PageNode {
  readonly nodeType: number;
  readonly textContent: string | null;
}

interface PageRange {
  setStart(node: PageNode, offset: number): void;
  setEnd(node: PageNode, offset: number): void;
  getBoundingClientRect(): { readonly left: number };
}

interface Violation {
  readonly effectiveDirective: string;
  readonly blockedURI: string;
}
