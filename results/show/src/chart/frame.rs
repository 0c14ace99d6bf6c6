//! The sheet of a chart, and the plot inside.

/// Width and height of a chart and the room around its plot, in SVG's units.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Room on the right for the names of the curves; none are written if there is none.
    pub(super) names: f64,
}

/// The chart that a report opens with.
pub const LARGE: Size = Size { width: 960.0, height: 440.0, names: 148.0 };
/// Half as wide as [`LARGE`].
pub const SMALL: Size = Size { width: 470.0, height: 270.0, names: 14.0 };
/// Half as wide, with the names of lines.
pub(super) const SMALL_WITH_NAMES: Size = Size { names: 84.0, ..SMALL };

/// Room on the left for the labels of the vertical axis.
const LEFT: f64 = 74.0;
/// Room above the plot.
const TOP: f64 = 28.0;
/// Room below the plot.
const BOTTOM: f64 = 46.0;
/// Room that a file needs above for its heading.
const HEADING: f64 = 60.0;
/// The least room on the right that a name can stand in.
const LEAST_NAMES: f64 = 15.0;
/// Room for a label of the horizontal axis.
const X_LABEL: f64 = 55.0;
/// Room for a label of the vertical axis.
const Y_LABEL: f64 = 40.0;

/// Where things stand on the sheet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The left edge of the plot inside the sheet; the right, the upper and the lower edge follow.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Whether there is room for the names of the curves.
    pub(super) names: bool,
}

impl Frame {
    /// The frame of a chart of that size, which a heading makes higher.
    pub(super) fn of(size: Size, has_heading: bool) -> Self {
        let heading = if has_heading { HEADING } else { 0.0 };
        let (top, height) = (TOP + heading, size.height + heading);
        Self {
            width: size.width,
            height,
            left: LEFT,
            right: size.width - size.names,
            top,
            bottom: height - BOTTOM,
            names: size.names > LEAST_NAMES,
        }
    }

    /// The ends of the horizontal axis.
    pub(super) fn across(&self) -> (f64, f64) {
        (self.left, self.right)
    }

    /// The ends of the vertical axis.
    pub(super) fn up(&self) -> (f64, f64) {
        (self.bottom, self.top)
    }

    /// How many labels the horizontal axis has room for.
    pub(super) fn x_labels(&self) -> u32 {
        ((self.right - self.left) / X_LABEL) as u32
    }

    /// How many labels the vertical axis has room for.
    pub(super) fn y_labels(&self) -> u32 {
        ((self.bottom - self.top) / Y_LABEL) as u32
    }
}
