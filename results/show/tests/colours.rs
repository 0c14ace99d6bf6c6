//! What the style sheet promises to those who see little.

/// Relative luminance of `#rrggbb`, by the Web Content Accessibility Guidelines 2.2.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[test]
fn curves_and_their_names_stand_out_from_light_and_dark_paper() {
    let style = include_str!("../templates/chart.css");
    let (light, dark) = style.split_once("@media").unwrap();
    for paper_and_curves in [light, dark] {
        let colour_after = |name: &str| {
            let at = paper_and_curves.find(name).unwrap() + name.len();
            luminance(&paper_and_curves[at..at + 7])
        };
        let paper = colour_after("--paper:");
        for index in 0..8 {
            let curve = colour_after(&format!(".c{index}{{--c:"));
            let contrast = (paper.max(curve) + 0.05) / (paper.min(curve) + 0.05);
            assert!(contrast >= 4.5, "colour {index} has a contrast of {contrast:.2}");
        }
    }
}
